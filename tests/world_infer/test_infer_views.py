"""Output schemas say what a tool is about, whatever its name calls it; and batches reach into things and answer."""

import pytest

ENTITY = "{name!, entityType!, observations!: [str]}"
RELATION = (
    "{from!#The name of the entity where it starts, to!#The name of the entity where it ends,"
    " relationType!#The type of the relation}"
)
GRAPH = f"{{entities!: [{ENTITY}], relations!: [{RELATION}]}}"
KNOWLEDGE = f"""
    create_entities(entities!: [{ENTITY}]) => {{entities!: [{ENTITY}]}} -- Create multiple new entities in the graph
    create_relations(relations!: [{RELATION}]) => {{relations!: [{RELATION}]}} -- Create new relations between entities
    add_observations(observations!: [{{entityName!, contents!: [str]}}]) => {{results!: [{{entityName!, addedObservations!: [str]}}]}} -- Add new observations to existing entities
    delete_entities(entityNames!: [str]) => {{success!: bool, message!}} -- Delete multiple entities and their associated relations @destructive
    delete_observations(deletions!: [{{entityName!, observations!: [str]}}]) => {{success!: bool, message!}} -- Delete specific observations from entities @destructive
    delete_relations(relations!: [{RELATION}]) => {{success!: bool, message!}} -- Delete multiple relations @destructive
    read_graph() => {GRAPH} -- Read the entire graph @readOnly
    search_nodes(query!) => {GRAPH} -- Search for nodes in the graph based on a query @readOnly
    open_nodes(names!: [str]) => {GRAPH} -- Open specific nodes by their names @readOnly
"""  # noqa: E501

ADA = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
ENGINE = {"name": "Engine", "entityType": "machine", "observations": []}
TIE = {"from": "Ada", "to": "Engine", "relationType": "programs"}
LOOP = {"from": "Engine", "to": "Engine", "relationType": "drives"}


@pytest.fixture
def knowledge(client_of):
    call = client_of(KNOWLEDGE)
    assert call("create_entities", entities=[ADA, ENGINE]) == {"entities": [ADA, ENGINE]}
    assert call("create_relations", relations=[TIE, LOOP]) == {"relations": [TIE, LOOP]}
    return call


def test_a_tool_that_shows_several_lists_answers_all_that_is_in_them(knowledge):
    assert knowledge("read_graph") == {"entities": [ADA, ENGINE], "relations": [TIE, LOOP]}


def test_a_tool_of_another_noun_finds_the_things_whose_fields_it_shows(knowledge):
    assert knowledge("search_nodes", query="PERSON") == {"entities": [ADA], "relations": [TIE]}
    assert knowledge("search_nodes", query="programs")["entities"] == [ADA]
    assert knowledge("search_nodes", query="zzz") == {"entities": [], "relations": []}
    assert knowledge("open_nodes", names=["Engine"]) == {"entities": [ENGINE], "relations": [LOOP, TIE]}
    assert knowledge("open_nodes", names=["Bob"]) == {"entities": [], "relations": []}


def test_a_batch_reaches_into_a_list_of_each_thing_it_names(knowledge):
    added = knowledge("add_observations", observations=[{"entityName": "Ada", "contents": ["writes programs", "x"]}])
    assert added == {"results": [{"entityName": "Ada", "addedObservations": ["x"]}]}
    assert knowledge("open_nodes", names=["Ada"])["entities"][0]["observations"] == ["writes programs", "x"]
    knowledge("delete_observations", deletions=[{"entityName": "Ada", "observations": ["writes programs"]}])
    assert knowledge("open_nodes", names=["Ada"])["entities"][0]["observations"] == ["x"]
    assert knowledge("search_nodes", query="writes")["entities"] == []


def test_a_batch_that_adds_to_what_is_not_there_fails_whole(knowledge):
    both = [{"entityName": "Ada", "contents": ["x"]}, {"entityName": "Bob", "contents": ["y"]}]
    outcome, error = knowledge.error("add_observations", observations=both)
    assert outcome == "not_found"
    assert "Bob" in error
    assert knowledge("open_nodes", names=["Ada"])["entities"] == [ADA]


def test_what_is_deleted_is_shown_no_more_and_takes_with_it_what_the_description_says(knowledge):
    answer = knowledge("delete_entities", entityNames=["Ada", "Bob"])
    assert answer["success"] is True
    assert "deleted" in answer["message"]
    assert knowledge("read_graph") == {"entities": [ENGINE], "relations": [LOOP]}
    assert knowledge("search_nodes", query="ada")["entities"] == []
    knowledge("delete_relations", relations=[LOOP])
    assert knowledge("read_graph")["relations"] == []


def test_batches_without_output_schemas_answer_what_they_made_and_changed(client_of):
    call = client_of(
        """
        add_parts(parts!: [{sku!, label!, tags: [str]}])
        get_part(sku!)
        list_parts(tag)
        add_tags(entries!: [{part_sku!, tags!: [str]}])
        remove_tags(entries!: [{part_sku!, tags!: [str]}])
        """
    )
    made = call("add_parts", parts=[{"sku": "A", "label": "a"}, {"sku": "B", "label": "b", "tags": ["old"]}])
    assert [part["sku"] for part in made["parts"]] == ["A", "B"]
    changed = call("add_tags", entries=[{"part_sku": "A", "tags": ["new"]}, {"part_sku": "B", "tags": ["new", "old"]}])
    assert [part["tags"] for part in changed["parts"]] == [["new"], ["old", "new"]]
    assert [part["sku"] for part in call("list_parts", tag="new")["parts"]] == ["A", "B"]
    call("remove_tags", entries=[{"part_sku": "B", "tags": ["old"]}])
    assert call("get_part", sku="B")["tags"] == ["new"]


def test_things_of_like_fields_stay_apart_where_each_is_asked_for_by_its_own_id(client_of):
    person = "{id!, name!, email!}"
    call = client_of(
        f"""
        create_client(name!, email!) => {person}
        get_client(client_id!) => {person}
        list_clients() => {{clients!: [{person}]}}
        get_agent(agent_id!) => {person}
        list_agents() => {{agents!: [{person}]}}
        """
    )
    call("create_client", name="A", email="a@x.org")
    assert call.dynamics.tools["list_agents"].collection == "agents"
    assert call.dynamics.tools["get_agent"].collection == "agents"


@pytest.mark.parametrize(
    ("description", "stay"),
    [
        ("Deletes a project and all of its tasks.", False),
        ("Deletes a project along with its tasks.", False),
        ("Deletes a project; its tasks are kept.", True),
        ("Deletes a project. Fails while it has tasks.", True),
        ("Deletes a project.", True),
    ],
)
def test_a_removal_takes_with_it_what_its_description_says(client_of, description, stay):
    call = client_of(
        f"""
        create_project(name!)
        get_project(project_id!)
        delete_project(project_id!) -- {description}
        create_task(project_id!, title!)
        list_tasks(project_id)
        delete_task(task_id!)
        """
    )
    one, two = (call("create_project", name=name)["project_id"] for name in "ab")
    kept = [call("create_task", project_id=key, title="t")["task_id"] for key in (one, two)]
    call("delete_project", project_id=one)
    assert [task["task_id"] for task in call("list_tasks")["tasks"]] == (kept if stay else kept[1:])
