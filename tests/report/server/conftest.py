import pytest

pytest.importorskip("fastapi", reason="needs the explorer's packages: pip install 'wfalens[explore]'")

from starlette.testclient import TestClient

from tests.studies import hostile_study
from wfalens.report.server import web_app as application
from wfalens.report.server.web_app import create_app

TOKEN = "told-to-the-visitor"  # noqa: S105 - of these tests
BEARER = {"authorization": f"Bearer {TOKEN}"}


def visitor(study, *hosts, base_url="http://127.0.0.1", **options):
    """A client that has the token."""
    app = create_app(study, TOKEN, *([hosts] if hosts else []))
    return TestClient(app, base_url=base_url, headers=BEARER, **options)


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
    with visitor(study, raise_server_exceptions=False) as client:
        yield client
