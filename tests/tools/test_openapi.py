import copy
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tool_strategies import JSON

from envace_sdk.errors import ToolsetError
from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools import Toolset
from envace_sdk.tools.documents import parse_yaml

SHOP = Path(__file__).parent / "data" / "shop.yaml"
DOCUMENT = parse_yaml(SHOP.read_text(encoding="utf-8"), "shop.yaml")


def document(version="3.1.0", components=None, **operation):
    """One operation, POST /things/{id}."""
    operation.setdefault("operationId", "op")
    operation.setdefault("responses", {"200": {"description": "ok"}})
    paths = {"/things/{id}": {"post": operation}}
    info = {"title": "t", "version": "1"}
    return {"openapi": version, "info": info, "paths": paths, **({"components": components} if components else {})}


def only_tool(given):
    [tool] = Toolset.from_document(given, name="x")
    return tool


def body(schema, *, required=True, kind="application/json"):
    return {"required": required, "content": {kind: {"schema": schema}}}


def errors(toolset):
    return [
        (finding.tool, finding.pointer, finding.rule) for finding in toolset.findings if finding.severity == "error"
    ]


@pytest.fixture(scope="module")
def shop():
    return Toolset.load(SHOP)


def test_every_operation_becomes_a_tool_named_by_its_id_or_by_method_and_path(shop):
    assert [tool.name for tool in shop] == ["getPet", "put_pets_petId", "delete_pets_petId", "create_pet_", "list"]
    assert shop.name == "shop"
    assert shop.raw is None


def test_an_operation_that_cannot_be_read_is_quarantined_and_the_others_are_served(shop):
    assert errors(shop) == [
        ("GET /broken", "/paths/~1broken/get/parameters/0/in", "openapi"),
        ("POST /broken", "/paths/~1broken/post", "dangling-ref"),
        ("PUT /broken", "/paths/~1broken/put", "remote-ref"),
    ]
    assert [definition["operationId"] for definition in shop.quarantined] == ["broken", "dangling", "remote"]


def test_json_and_yaml_of_one_document_give_one_toolset(shop, tmp_path):
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert Toolset.load(path).definitions == shop.definitions


def test_summary_description_and_deprecation_are_what_the_tool_says_of_itself(shop):
    assert shop["getPet"].definition["title"] == "Get a pet"
    assert shop["getPet"].description == "Get a pet\n\nBy its id."
    assert shop["delete_pets_petId"].description == "DELETE /pets/{petId}\n\nDeprecated."


def test_the_method_says_what_may_happen(shop):
    assert shop["getPet"].annotations == {"readOnlyHint": True}
    assert shop["delete_pets_petId"].annotations["destructiveHint"] is True
    assert shop["put_pets_petId"].annotations["idempotentHint"] is True
    assert shop["create_pet_"].annotations == {"readOnlyHint": False}


def test_parameters_of_path_and_operation_and_the_fields_of_the_body_are_one_object(shop):
    schema = shop["create_pet_"].input_schema
    assert list(schema["properties"]) == ["X-Key", "session", "name", "secret", "kind", "mother", "owner"]
    assert schema["required"] == ["name", "secret"]
    assert shop["getPet"].input_schema["required"] == ["petId"]
    assert list(shop["getPet"].input_schema["properties"]) == ["petId", "trace"]


def test_where_each_argument_goes_in_the_request_is_remembered(shop):
    source = shop["put_pets_petId"].definition["_meta"]["dev.envace/source"]
    assert (source["method"], source["path"]) == ("put", "/pets/{petId}")
    assert {place: [n for n, p in source["in"].items() if p == place] for place in ("path", "header")} == {
        "path": ["petId"],
        "header": ["trace"],
    }
    assert source["in"]["name"] == "body"


def test_requests_lack_read_only_fields_and_responses_write_only_ones(shop):
    sent = shop["create_pet_"].input_schema
    assert "id" not in sent["properties"]
    assert "id" not in sent["$defs"]["Pet"]["properties"]
    assert sent["$defs"]["Pet"]["required"] == ["name", "secret"]
    received = shop["getPet"].output_schema["$defs"]["Pet"]
    assert "secret" not in received["properties"]
    assert received["required"] == ["id", "name"]


def test_the_json_of_the_first_success_is_the_output_schema(shop):
    assert shop["getPet"].output_schema["$ref"] == "#/$defs/Pet"
    assert shop["getPet"].output_schema["type"] == "object"
    assert shop["list"].output_schema["items"] == {"$ref": "#/$defs/Pet"}
    assert shop["put_pets_petId"].output_schema is None


def test_recursive_components_are_carried_as_definitions_that_evaluate(shop):
    validator = compile_schema(shop["getPet"].output_schema)
    pet = {"id": 1, "name": "Rex", "mother": {"id": 2, "name": "Ada", "owner": {"pets": []}}, "owner": None}
    assert validator.is_valid(pet)
    assert not validator.is_valid({**pet, "mother": {"id": "two", "name": "Ada"}})


def test_what_3_0_spells_its_own_way_is_json_schema_afterwards(shop):
    pet = shop["getPet"].output_schema["$defs"]["Pet"]["properties"]
    assert pet["kind"] == {"type": ["string", "null"], "enum": ["cat", "dog", None]}
    assert pet["name"]["examples"] == ["Rex"]
    assert pet["mother"] == {"$ref": "#/$defs/Pet"}
    assert pet["owner"] == {"description": "Who.", "anyOf": [{"allOf": [{"$ref": "#/$defs/Owner"}]}, {"type": "null"}]}
    assert shop["getPet"].input_schema["properties"]["petId"] == {"type": "integer", "exclusiveMinimum": 0}


def test_3_1_is_json_schema_already_and_keeps_what_stands_beside_a_reference():
    schema = {"$ref": "#/components/schemas/A", "description": "kept", "example": 1, "nullable": True}
    components = {"schemas": {"A": {"type": ["string", "null"], "exclusiveMinimum": 3}}}
    given = document(components=components, requestBody=body({"type": "object", "properties": {"a": schema}}))
    tool = only_tool(given)
    expected = {"$ref": "#/$defs/A", "description": "kept", "example": 1, "nullable": True}
    assert tool.input_schema["properties"]["a"] == expected
    assert tool.input_schema["$defs"]["A"] == components["schemas"]["A"]


def test_a_place_in_the_path_that_nobody_declared_is_an_argument():
    tool = only_tool(document())
    assert tool.input_schema == {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


def test_an_operations_parameter_replaces_the_paths():
    given = document(parameters=[{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}])
    given["paths"]["/things/{id}"]["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {}}]
    assert only_tool(given).input_schema["properties"] == {"id": {"type": "integer"}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"oneOf": [{"type": "object"}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}, "minProperties": 1},
        {"type": "object", "properties": {"id": {"type": "string"}}},
        {"type": "object", "properties": {}},
        True,
    ],
    ids=["array", "string", "composed", "map", "counted", "clashes with a parameter", "no fields", "anything"],
)
def test_a_body_that_cannot_be_spread_without_loss_is_the_property_body(schema):
    tool = only_tool(document(requestBody=body(schema)))
    assert tool.input_schema["properties"]["body"] == schema
    assert tool.input_schema["required"] == ["id", "body"]


def test_an_optional_body_with_required_fields_is_not_spread():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tool = only_tool(document(requestBody=body(schema, required=False)))
    assert tool.input_schema["properties"]["body"] == schema
    assert tool.input_schema["required"] == ["id"]


def test_a_closed_body_closes_the_arguments():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    assert only_tool(document(requestBody=body(schema))).input_schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.a+json", "multipart/form-data"])
def test_json_under_any_of_its_names_and_forms_are_spread(kind):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert "a" in only_tool(document(requestBody=body(schema, kind=kind))).input_schema["properties"]


def test_a_body_of_bytes_is_a_string():
    tool = only_tool(document(requestBody=body({}, kind="image/png")))
    assert tool.input_schema["properties"]["body"]["type"] == "string"


def test_parameters_of_one_name_in_two_places_are_told_apart():
    parameters = [{"name": "id", "in": place, "required": place == "path", "schema": {}} for place in ("query", "path")]
    tool = only_tool(document(parameters=parameters))
    assert list(tool.input_schema["properties"]) == ["id", "query_id"]
    assert tool.definition["_meta"]["dev.envace/source"]["in"] == {"id": "path", "query_id": "query"}


def test_headers_that_http_itself_sets_are_no_arguments():
    parameters = [{"name": name, "in": "header", "schema": {}} for name in ("Accept", "authorization", "X-A")]
    assert list(only_tool(document(parameters=parameters)).input_schema["properties"]) == ["id", "X-A"]


def test_a_discriminators_mapping_follows_its_schemas():
    components = {"schemas": {"Cat": {"type": "object"}}}
    pet = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog"}},
    }
    tool = only_tool(document(components=components, requestBody=body(pet)))
    assert tool.input_schema["properties"]["body"]["discriminator"]["mapping"] == {"cat": "#/$defs/Cat", "dog": "Dog"}


def test_references_to_anywhere_in_the_document_are_followed():
    components = {
        "schemas": {"A b": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        "headers": {"H": {"schema": {"type": "boolean"}}},
    }
    fields = {
        "a": {"$ref": "#/components/schemas/A%20b/properties/x"},
        "b": {"$ref": "#/components/headers/H/schema"},
        "c": {"$ref": "#/components/schemas/A b"},
    }
    tool = only_tool(document(components=components, requestBody=body({"type": "object", "properties": fields})))
    validator = compile_schema(tool.input_schema)
    assert validator.is_valid({"id": "1", "a": 1, "b": True, "c": {"x": 1}})
    assert not validator.is_valid({"id": "1", "a": "1"})
    assert not validator.is_valid({"id": "1", "b": 1})
    assert not validator.is_valid({"id": "1", "c": {"x": "1"}})


def test_references_that_go_round_in_a_circle_are_told():
    components = {
        "parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}}
    }
    toolset = Toolset.from_document(
        document(components=components, parameters=[{"$ref": "#/components/parameters/A"}]), name="x"
    )
    assert [rule for _, _, rule in errors(toolset)] == ["dangling-ref"]


def test_two_operations_of_one_id_are_a_duplicate():
    given = document(operationId="same")
    given["paths"]["/other"] = {"get": {"operationId": "same", "responses": {}}}
    toolset = Toolset.from_document(given, name="x")
    assert len(toolset) == 1
    assert [rule for _, _, rule in errors(toolset)] == ["duplicate"]


def test_names_made_of_paths_are_made_different():
    given = document()
    responses = {"200": {"description": "ok"}}
    given["paths"] = {"/a-b/c": {"get": {"responses": responses}}, "/a-b_c": {"get": {"responses": responses}}}
    assert [tool.name for tool in Toolset.from_document(given, name="x")] == ["get_a-b_c", "get_a-b_c_2"]


def test_a_fault_in_an_answer_that_reports_failure_does_not_quarantine():
    responses = {"200": {"description": "ok"}, "404": {"content": 5}}
    toolset = Toolset.from_document(document(responses=responses), name="x")
    assert len(toolset) == 1
    assert "openapi" in {finding.rule for finding in toolset.findings}


def test_faults_outside_of_operations_are_warnings_about_the_document():
    given = document()
    del given["info"]
    given["components"] = {"schemas": {f"S{n}": {"type": "text"} for n in range(30)}}
    toolset = Toolset.from_document(given, name="x")
    assert len(toolset) == 1
    about = [finding for finding in toolset.findings if finding.tool == "*"]
    assert about[0].pointer == "/info"
    assert len(about) == 21
    assert "more problems" in about[-1].message


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"openapi": 3.1, "paths": {}}, 'such as "3.1.0"'),
        ({"openapi": "2.0", "paths": {}}, 'such as "3.1.0"'),
        ({"openapi": "3.1.0"}, "paths"),
        ({"openapi": "3.1.0", "paths": []}, "paths"),
        ({"swagger": "2.0", "paths": {}}, "swagger2openapi"),
    ],
)
def test_a_document_that_is_not_openapi_3_is_refused_with_what_was_expected(given, said):
    with pytest.raises(ToolsetError, match=said):
        Toolset.from_document(given, name="x")


def places(value, path=()):
    yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(child, (*path, key))


PLACES = list(places(DOCUMENT))


@example([(("components", "requestBodies", "PetBody", "content"), True)])
@example([(("components", "requestBodies", "PetBody", "content"), "application/json")])
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=3))
def test_a_document_damaged_anywhere_is_read_as_far_as_it_goes_or_refused(damages):
    damaged = copy.deepcopy(DOCUMENT)
    for path, value in damages:
        holder = damaged
        try:
            for step in path[:-1]:
                holder = holder[step]
            if path:
                holder[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    try:
        toolset = Toolset.from_document(damaged, name="x")
    except ToolsetError:
        return
    assert len(toolset) + len(toolset.quarantined) == len(toolset.definitions)
    for tool in toolset:
        compile_schema(tool.input_schema)
