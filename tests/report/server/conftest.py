import pytest

pytest.importorskip("fastapi", reason="needs the explorer's packages: pip install 'wfalens[explore]'")

from starlette.testclient import TestClient

from tests.studies import hostile_study
from wfalens.report.server import web_app as application
from wfalens.report.server.web_app import create_app


@pytest.fixture(scope="session", autouse=True)
def patience():
    """However busy the machine, no answer takes too long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "_QUICK", 1e6)
        patch.setattr(application, "_SLOW", 1e6)
        yield


@pytest.fixture(scope="session")
def study():
    return hostile_study()


@pytest.fixture(scope="module")
def client(study):
    with TestClient(create_app(study), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client
