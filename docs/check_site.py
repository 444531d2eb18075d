"""Check a built site: every link leads somewhere, and nothing is loaded from another host.

Run: python docs/check_site.py site. MkDocs checks the links that are written in Markdown; this looks at what was built,
the API and its cross-references too.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes by which an element loads something, by element. An <a> loads nothing until it is clicked.
LOADS = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "link": "href",
    "source": "src",
    "video": "src",
    "object": "data",
}
#: Relations of a <link> that load nothing.
NO_LOAD = {"canonical", "next", "prev"}
#: An address in a style sheet.
IN_STYLE = re.compile(r"(?:url\(|@import\s)\s*[\"']?([^\"')\s;]+)")
#: Class of diagrams for which the theme would load a program from another host.
DIAGRAM = "mermaid"


class Page(HTMLParser):
    """What one page names (`ids`), links to (`links`) and loads (`loads`)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.diagrams = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names, links to or loads."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.diagrams += DIAGRAM in given.get("class", "").split()
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        address = given.get(LOADS.get(tag, ""), "")
        if address and not (tag == "link" and set(given.get("rel", "").split()) & NO_LOAD):
            self.loads.append(address)


def outside(address: str) -> bool:
    """Whether an address is on another host."""
    return bool(urlsplit(address).netloc)


def wrong(site: Path) -> list[str]:
    """Sentences on what is wrong with a site."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = [] if pages else [f"{site} has no pages."]
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        found += [f"{here} loads {address} from another host." for address in page.loads if outside(address)]
        if page.diagrams:
            found.append(f"{here} has a diagram, which the theme draws with a program from another host.")
        if path.name == "404.html":  # its links begin at the root of a host
            continue
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{here} links to {address}, which is not there.")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{here} links to {address}, and the page has no such place.")
    for path in site.rglob("*.css"):
        styles = IN_STYLE.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)} loads {address}." for address in styles if outside(address)]
    return sorted(set(found))


if __name__ == "__main__":
    mistakes = wrong(Path(sys.argv[1]))
    print("\n".join(mistakes) or "All links lead somewhere, and nothing is loaded from another host.")
    sys.exit(bool(mistakes))
