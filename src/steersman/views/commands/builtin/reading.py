"""`/docs`: the manual."""

from steersman.views import manual
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage


async def docs(stage: Stage, arguments: str) -> None:
    """Show a page of the manual."""
    wanted: str | None = arguments.strip()
    if not wanted:
        rows = [Row(name, name, title) for name, title in manual.listing()]
        wanted = await stage.pick("The manual", rows)
    if wanted:
        topic = manual.find(wanted)
        stage.show(topic.title, manual.page(topic))


COMMANDS = (
    Command(
        "docs",
        "Read the manual.",
        docs,
        usage="[TOPIC]",
        more="Without a topic, a list of them.",
        complete=lambda _, __: [Choice(name, title) for name, title in manual.listing()],
        while_working=True,
    ),
)
