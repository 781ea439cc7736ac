"""Make tasks for a toolset, split them by template, and look at one."""

import asyncio

from envace_sdk.training.tasks import MakeOptions, make_tasks, split_by_template

from envace_sdk.rehearse import Environment


async def main() -> None:
    environment = Environment.load("retail")
    made = await make_tasks(environment, MakeOptions(count=40, tools_per_task=5, max_calls=2))
    split = split_by_template(made.tasks, (0.8, 0.1, 0.1))
    print({name: len(tasks) for name, tasks in split.items()})

    task = next(task for task in made.tasks if task.tags == ["change"])
    print("user:   ", task.instruction)
    for call in task.witness or ():
        print("witness:", call.tool, call.arguments)
    for item in task.checklist:
        print("check:  ", item.that)


asyncio.run(main())
