"""The studio in a real browser: every view at the widths and in the colours that people use, and answers by hand."""

import pytest
from chromium import axe_source, chromium, kept, serious, watched
from furnished_studio import examined, furnish, trained, worlds
from studios import app
from web import serving

from envace_sdk.store import Store

pytestmark = [pytest.mark.slow]

SETTINGS = {
    "wide": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 760}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 360, "height": 760}, "color_scheme": "dark"},
}
VIEWS = {
    "approvals": "/approvals",
    "approval": "/approvals/{pending}",
    "approval-stale": "/approvals/{stale}",
    "approval-edited": "/approvals/{new}",
    "runs": "/runs",
    "run": "/runs/view?name=main",
    "toolsets": "/worlds",
    "toolset": "/worlds/toolset?name=retail",
    "tool": "/worlds/tool?toolset=retail&name=place_order",
    "world": "/worlds/world?toolset=retail&name=changed&collection=vouchers",
    "diff": "/worlds/diff?toolset=retail&before=start&after=world:changed",
    "training": "/training?run=role-wise/seed-0&run=pooled/seed-0",
    "trajectories": "/training/samples?run=role-wise/seed-0",
    "fidelity": "/fidelity",
    "fidelity-tool": "/fidelity/tool?name=refund_order",
    "fidelity-exam": "/fidelity/exam",
}


@pytest.fixture(scope="module", autouse=True)
def key():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVACE_REDACTION_KEY", "k")
        yield


@pytest.fixture(scope="module")
def studio(tmp_path_factory, key):
    """The base URL of a studio with something in every view, and the ids of approvals."""
    folder = tmp_path_factory.mktemp("studio")
    ids = furnish(folder)
    store = Store.open(worlds(folder))
    more = {"tools": [(None, "retail")], "store": store, "runs": (trained(folder),), "exam": examined()}
    with serving(app(folder / "ledger.db", **more)) as base:
        yield base, ids


@pytest.fixture(scope="module")
def browser(studio):
    with chromium() as found:
        yield found


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_its_window_and_breaks_none_of_its_own_rules(studio, browser, view, setting):
    base, ids = studio
    with watched(browser, **SETTINGS[setting]) as page:
        assert page.goto(base + VIEWS[view].format(**ids)).status == 200
        for details in page.locator("main details").all():
            details.evaluate("element => element.open = true")
        kept(page, f"{view}-{setting}")
        assert page.evaluate("document.documentElement.scrollWidth") <= SETTINGS[setting]["viewport"]["width"]
        assert page.locator("h1").count() == 1


@pytest.mark.node
@pytest.mark.parametrize("setting", ["wide", "phone-dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(studio, browser, view, setting):
    base, ids = studio
    with watched(browser, **SETTINGS[setting]) as page:
        page.goto(base + VIEWS[view].format(**ids))
        for details in page.locator("main details").all():
            details.evaluate("element => element.open = true")
        assert serious(page, axe_source()) == []


def test_dark_mode_is_dark(studio, browser):
    base, _ = studio
    shades = {}
    for scheme in ("light", "dark"):
        with watched(browser, color_scheme=scheme) as page:
            page.goto(f"{base}/approvals")
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(map(int, colour[4:-1].split(",")))
    assert shades["dark"] < 100 < 600 < shades["light"]


@pytest.mark.node
def test_axe_would_find_what_is_serious(browser):
    with watched(browser) as page:
        page.set_content("<html><body><input><p style='color:#999;background:#aaa'>pale</p></body></html>")
        assert {rule for rule, _, _ in serious(page, axe_source())} >= {"label", "color-contrast"}
