"""A headless Chromium that is installed on the machine, and axe to judge what it shows."""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

AXE = "axe-core@4.14.1"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def chromium():
    """The browser; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("ENVACE_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed: none of " + ", ".join(_NAMES) + ", and ENVACE_CHROMIUM names none")
    # Chromium refuses its own sandbox to root, as which containers run.
    words = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=words)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def watched(browser, *, expected=(), **setting):
    """A page of its own context; what it complains of on the console fails the test, but for texts in `expected`."""
    context = browser.new_context(reduced_motion="reduce", **setting)
    page, complaints = context.new_page(), []
    page.set_default_timeout(15_000)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    try:
        yield page
        unexpected = [text for text in complaints if not any(part in text for part in expected)]
        assert not unexpected, unexpected
    finally:
        context.close()


def kept(page, name):
    """Keeps a picture of the whole page: in ENVACE_ARTEFACTS, or build/screenshots."""
    folder = Path(os.environ.get("ENVACE_ARTEFACTS") or Path(__file__).parents[2] / "build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)


def axe_source():
    """The script, fetched from the npm registry once."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envace-sdk"
    folder = base / re.sub(r"[^A-Za-z0-9.]+", "-", AXE)
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder)]
        subprocess.run([*words, AXE], check=True)
        (folder / ".ready").touch()
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def serious(page, source):
    """What axe finds of the page that is serious or critical: rule, and the first places."""
    page.evaluate(f"{source}; 0")  # through the debugger: the page's own policy lets no such script in
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (one["id"], one["help"], [node["target"] for node in one["nodes"]][:3])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
