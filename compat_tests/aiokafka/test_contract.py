"""What must hold for every client holds for aiokafka."""

from compat_tests.contract_admin import AdminContract
from compat_tests.contract_positions import PositionsContract
from compat_tests.contract_records import RecordsContract


class TestRecords(RecordsContract):
    pass


class TestPositions(PositionsContract):
    pass


class TestAdmin(AdminContract):
    pass
