import pytest

from kbroker.broker.resources import CLUSTER_OPERATIONS
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kbroker.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.handlers.administrator import Administrator

NOT_ASKED_FOR = -(2**31)
CONTROLLERS = 2


@pytest.mark.parametrize("version", [*DescribeClusterRequest.versions])
def test_every_version_tells_the_id_the_controller_and_the_brokers(kbroker, admin, version):
    answer = admin.ask(DescribeClusterRequest(), DescribeClusterResponse, version=version)

    (broker,) = answer.brokers
    assert (broker.broker_id, broker.host, broker.port) == (1, kbroker.host, kbroker.port)
    assert (broker.rack, broker.is_fenced) == (None, False)
    assert (answer.error_code, answer.controller_id) == (0, 1)
    assert answer.cluster_authorized_operations == NOT_ASKED_FOR
    metadata = admin.ask(MetadataRequest(topics=[]), MetadataResponse, version=12)
    assert answer.cluster_id == metadata.cluster_id


def test_operations_are_told_who_asks_for_them(admin):
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    answer = admin.ask(request, DescribeClusterResponse)

    assert answer.cluster_authorized_operations == CLUSTER_OPERATIONS == 8096


def test_the_rack_is_told():
    with (
        Broker(configs={"broker.rack": "r1"}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        request = DescribeClusterRequest(include_fenced_brokers=True)
        assert admin.ask(request, DescribeClusterResponse).brokers[0].rack == "r1"


@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [(CONTROLLERS, "MISMATCHED_ENDPOINT_TYPE"), (5, "UNSUPPORTED_ENDPOINT_TYPE")],
)
def test_who_wants_controllers_is_wrong_here(admin, endpoint_type, error):
    request = DescribeClusterRequest(endpoint_type=endpoint_type)
    answer = admin.ask(request, DescribeClusterResponse)

    assert answer.error_code == ErrorCode[error]
    assert (answer.cluster_id, answer.controller_id, answer.brokers) == ("", -1, [])
