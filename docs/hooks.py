"""What the site needs beyond MkDocs: pages from other folders of the repository, and equations without a network.

Pages link to files outside docs/ as they lie in the repository, such as ../results/regimes/table.md. Each such file
becomes a part of the site: Markdown and Python files as pages, others as they are. Links are rewritten to match.
Equations between $` and `$, and in blocks of the language math, become MathML, which browsers draw by themselves.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
#: A link or picture in Markdown: what is before its address, the address, and what is after it.
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
#: A block of equations.
BLOCK = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: An equation within a line.
INLINE = re.compile(r"\$`(.+?)`\$")
#: A reference in a docstring, as Sphinx writes it and as it comes out here.
ROLE = re.compile(r":(?:class|func|meth|mod|attr):<code>~?(?:[\w.]+\.)?(\w+)</code>")
#: Pages that are always there, by their place in the repository.
ALWAYS = ("CHANGELOG.md", "SECURITY.md")


def in_repository(page: str) -> str:
    """Where a page of the site lies in the repository.

    >>> in_repository("which.md"), in_repository("results/odds/table.md")
    ('docs/which.md', 'results/odds/table.md')
    """
    if (ROOT / "docs" / page).exists():
        return f"docs/{page}"
    return page[: -len(".md")] if page.endswith(".py.md") else page


def site_path(path: str) -> str:
    """Where a file of the repository lies on the site."""
    if path.startswith("docs/"):
        return path[len("docs/") :]
    return f"{path}.md" if path.endswith(".py") else path


def linked(path: str, text: str) -> list[str]:
    """Files of the repository to which a file links."""
    found = []
    for _, address, _ in LINK.findall(text):
        if ":" not in address:
            found.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), address)))
    return found


def source(path: str) -> str:
    """A file of the repository as Markdown."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"# {path}\n\n```python\n{text}```\n" if path.endswith(".py") else text


def displayed(match: re.Match[str]) -> str:
    """A block of equations as MathML."""
    return f'<div class="equation">{convert(match[1].strip(), display="block")}</div>'


def on_files(files: Files, config: Any) -> Files:
    """Add what pages link to outside of docs/, and what those files link to in turn."""
    open_ = [path for path in ALWAYS if (ROOT / path).exists()]
    for file in files.documentation_pages():
        open_ += linked(f"docs/{file.src_uri}", Path(file.abs_src_path).read_text(encoding="utf-8"))
    done: set[str] = set()
    while open_:
        path = open_.pop()
        if path in done or path.startswith(("docs/", "..")) or not (ROOT / path).is_file():
            continue
        done.add(path)
        if path.endswith((".md", ".py")):
            files.append(File.generated(config, site_path(path), content=source(path)))
            if path.endswith(".md"):
                open_ += linked(path, source(path))
        else:
            files.append(File.generated(config, site_path(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links around to the site, and equations into MathML."""
    here = page.file.src_uri
    path = in_repository(here)

    def turned(match: re.Match[str]) -> str:
        before, address, after = match.groups()
        if ":" in address:
            return match.group()
        target = site_path(posixpath.normpath(posixpath.join(posixpath.dirname(path), address)))
        return before + posixpath.relpath(target, posixpath.dirname(here) or ".") + after

    markdown = LINK.sub(turned, markdown)
    markdown = BLOCK.sub(displayed, markdown)
    return INLINE.sub(lambda match: convert(match[1]), markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Show a reference of a docstring by its last name."""
    return ROLE.sub(r"<code>\1</code>", html)
