"""ACLs, which nobody enforces yet: every request about them says so."""

import pytest

from kbroker.client.connection import Connection
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from kbroker.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kbroker.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


@pytest.fixture(scope="module")
def connection():
    with Broker() as broker, Connection(broker.host, broker.port) as connection:
        yield connection


@pytest.mark.parametrize("version", [1, 2, 3])
def test_describing_says_that_security_is_disabled(connection, version):
    answer = connection.ask(DescribeAclsRequest(), DescribeAclsResponse, version=version)

    assert answer.error_code == ErrorCode.SECURITY_DISABLED
    assert answer.error_message == "No Authorizer is configured on the broker"
    assert answer.resources == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_creation_is_refused(connection, version):
    request = CreateAclsRequest(creations=[AclCreation(resource_name="a"), AclCreation()])
    answer = connection.ask(request, CreateAclsResponse, version=version)

    codes = [result.error_code for result in answer.results]
    assert codes == [ErrorCode.SECURITY_DISABLED] * 2


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_deletion_is_refused(connection, version):
    request = DeleteAclsRequest(filters=[DeleteAclsFilter()])
    answer = connection.ask(request, DeleteAclsResponse, version=version)

    assert [result.error_code for result in answer.filter_results] == [ErrorCode.SECURITY_DISABLED]
