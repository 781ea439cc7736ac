"""Links and anchors inside the repository, on every page, without any site tool."""

import pytest
from documents import ROOT, anchors, links, pages

FOREIGN = ("http://", "https://", "mailto:")


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(page):
    wrong = []
    for link in links(page):
        if link.startswith(FOREIGN):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        if not target.exists():
            wrong.append(f"{link}: no such file")
        elif not target.is_relative_to(ROOT):
            wrong.append(f"{link}: outside of the repository")
        elif anchor and anchor not in anchors(target.relative_to(ROOT).as_posix()):
            wrong.append(f"{link}: no such heading; there are {sorted(anchors(target.relative_to(ROOT).as_posix()))}")
    assert not wrong, f"{page}:\n" + "\n".join(wrong)
