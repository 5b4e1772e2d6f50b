import pytest

from tests.studies import hostile_study


@pytest.fixture(scope="session")
def study():
    return hostile_study()
