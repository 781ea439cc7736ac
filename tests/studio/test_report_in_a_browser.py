"""Reports as somebody opens them: from the disk, in a real browser, with nothing running beside."""

import asyncio
import json
from dataclasses import asdict

import pytest
from chromium import axe_source, chromium, kept, serious, watched
from furnished_studio import examined, furnish, trained, worlds

from envace_sdk.studio.reported import Given, make

pytestmark = [pytest.mark.slow]

SETTINGS = {
    "wide": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 360, "height": 760}, "color_scheme": "dark"},
}
REPORTS = ["training", "ledger", "worlds", "fidelity"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVACE_REDACTION_KEY", "k")
        furnish(folder)
        told = examined().report
        result = {"toolset": "retail", "episodes": 1, "calls": told.overall.calls, "loops": {"closed": [asdict(told)]}}
        (folder / "fidelity.json").write_text(json.dumps(result))
        shown = {
            "training": str(trained(folder)),
            "ledger": str(folder / "ledger.db"),
            "worlds": worlds(folder),
            "fidelity": str(folder / "fidelity.json"),
        }
        for name, run in shown.items():
            made = asyncio.run(make(Given((run,)), None, most=2**23))
            (folder / f"{name}.html").write_text(made.html, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(reports):
    with chromium() as found:
        yield found


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_opens_from_the_disk_asks_for_nothing_and_fits_its_window(reports, browser, name, setting):
    with watched(browser, offline=True, **SETTINGS[setting]) as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((reports / f"{name}.html").as_uri())
        kept(page, f"report-{name}-{setting}")
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= SETTINGS[setting]["viewport"]["width"]
        assert page.locator("h1").count() == 1
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, colour[4:-1].split(","))) < 100) == ("dark" in setting)  # its own policy lets its style in
        assert asked == [(reports / f"{name}.html").as_uri()]


@pytest.mark.node
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", REPORTS)
def test_axe_finds_nothing_serious_in_a_report(reports, browser, name, setting):
    with watched(browser, **SETTINGS[setting]) as page:
        page.goto((reports / f"{name}.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert serious(page, axe_source()) == []


def test_contents_and_links_lead_within_the_report(reports, browser):
    with watched(browser) as page:
        page.goto((reports / "ledger.html").as_uri())
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="refund_order").click()
        page.get_by_role("link", name="Side by side").click()
        assert "otherwise than predicted" in page.locator(":target").inner_text()


def test_a_script_in_a_report_would_not_run(reports, browser, tmp_path):
    text = (reports / "training.html").read_text(encoding="utf-8")
    (tmp_path / "planted.html").write_text(text.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    with watched(browser, expected=["Content Security Policy"]) as page:
        page.goto((tmp_path / "planted.html").as_uri())
        assert page.title() != "ran"
