"""What commands print with `--json` keeps to the schemas of the reference."""

import json

import pytest

from tests.json_outputs import COMMANDS, SCHEMAS, printed

jsonschema = pytest.importorskip("jsonschema")


@pytest.mark.slow
def test_the_output_of_every_command_keeps_to_its_schema(tmp_path):
    schemas = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    assert set(schemas) == set(COMMANDS)
    for name, output in printed(tmp_path).items():
        jsonschema.validate(output, schemas[name])
        if isinstance(output, dict) and "properties" in schemas[name]:
            assert set(output) <= set(schemas[name]["properties"]), f"{name} prints entries that the reference lacks"


def test_a_schema_refuses_what_lacks_an_entry():
    schema = json.loads(SCHEMAS.read_text(encoding="utf-8"))["evaluate"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schema)
