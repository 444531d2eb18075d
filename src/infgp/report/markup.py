"""Pieces of HTML: text that is never taken for markup, tables, figures and selectors."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from infgp.printing import printable

#: What a figure, a selector and a table look like: wide and narrow, on a screen and on paper.
STYLE = """
:root { color-scheme: light; --ink: #222; --blue: #1f5fa8; --red: #b03020; --grey: #6f6f6f; --pale: #f3f5f8; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 0 1rem 3rem; background: #fff; color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 1.2rem 0 .3rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; } p { margin: .4rem 0; max-width: 46rem; }
nav ul { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
a { color: var(--blue); } a:focus-visible, select:focus-visible, summary:focus-visible, .scroll:focus-visible {
  outline: 3px solid var(--blue); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { position: static; }
.verdict { background: var(--pale); border-left: 5px solid var(--blue); padding: .8rem 1rem; }
.warning { border-left: 5px solid var(--red); padding: .2rem .8rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; }
.pair > * { min-width: 0; }
figure { margin: 0 0 1rem; max-width: 36rem; } svg { width: 100%; height: auto; display: block; }
svg text { font: 15px system-ui, sans-serif; fill: var(--ink); }
.mid { text-anchor: middle; } .end { text-anchor: end; }
.axis { stroke: var(--ink); fill: none; } .grid { stroke: #e3e3e3; fill: none; }
.line { fill: none; stroke-width: 2; } .band { opacity: .25; stroke: none; } .bar { opacity: .85; }
.thin { stroke-width: 1.2; stroke-dasharray: 2 3; } .dash { stroke-dasharray: 6 4; }
.line.blue { stroke: var(--blue); } .line.grey { stroke: var(--grey); } .line.red { stroke: var(--red); }
.line.green { stroke: #23744a; } .line.purple { stroke: #7d3c98; } .line.ink { stroke: var(--ink); stroke-width: 1.3; }
.band.blue, .bar.blue, .dot.blue { fill: var(--blue); } .band.grey, .bar.grey { fill: var(--grey); }
.band.red, .bar.red, .dot.red { fill: var(--red); } .band.green { fill: #23744a; } .band.purple { fill: #7d3c98; }
.dot.grey { fill: var(--grey); } .dot.ink { fill: var(--ink); } .dot.faint { fill: var(--grey); opacity: .5; }
.dot.ring { fill: none; stroke: var(--red); stroke-width: 1.8; } .dot.outside { fill: #b06a00; }
.dot.star { fill: #fff; stroke: var(--ink); stroke-width: 1.5; }
.legend { list-style: none; padding: 0; margin: .2rem 0; display: flex; flex-wrap: wrap; gap: .1rem .9rem;
  font-size: .85rem; }
.legend svg { display: inline-block; width: 24px; height: 12px; margin-right: .3rem; vertical-align: -1px; }
.scale { display: flex; gap: .5rem; align-items: center; font-size: .85rem; }
.scale span:nth-child(2) { flex: 1; height: .8rem;
  background: linear-gradient(to right, #440154, #3b528b, #21918c, #5ec962, #fde725); }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .9rem; margin: .4rem 0; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
td.long { min-width: 9rem; overflow-wrap: anywhere; }
.choice { display: flex; flex-wrap: wrap; gap: .4rem 1rem; margin: .3rem 0 .6rem; }
.choice label { max-width: 100%; } select { font: inherit; padding: .25rem; max-width: 100%; }
summary { cursor: pointer; color: var(--blue); font-size: .9rem; } footer { margin-top: 3rem; font-size: .85rem; }
@media (max-width: 30rem) { body { padding: 0 .7rem 2rem; } }
"""

#: Shows the panel that the selectors of its group choose; without it all panels are shown.
SCRIPT = """
for (const group of document.querySelectorAll(".chosen")) {
  const selects = [...group.querySelectorAll("select")];
  const show = () => {
    const key = selects.map(select => select.value).join("-");
    for (const panel of group.querySelectorAll("[data-pick]")) panel.hidden = panel.dataset.pick !== key;
  };
  for (const select of selects) select.addEventListener("change", show);
  show();
}
"""


def text(words: object) -> str:
    """A text as HTML, in one line: nothing in it is taken for markup.

    Examples
    --------
    >>> text('<script>"a" & b')
    '&lt;script&gt;&quot;a&quot; &amp; b'
    """
    return escape(printable(str(words)), quote=True)


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table whose first cells name their rows; it scrolls where it is too wide.

    Examples
    --------
    >>> "<td>&lt;b&gt;</td>" in table("A", ["x", "y"], [[1, "<b>"]])
    True
    """
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>{"".join(_cell(cell) for cell in others)}</tr>'
        for first, *others in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: object) -> str:
    return f'<td class="long">{text(cell)}</td>' if len(str(cell)) > 18 else f"<td>{text(cell)}</td>"


def figure(title: str, picture: str, legend: Sequence[tuple[str, str]], numbers: str, note: str = "") -> str:
    """A chart with its heading, its legend and its numbers as a table."""
    keys = "".join(f"<li>{swatch(kind)}{text(words)}</li>" for kind, words in legend)
    under = f'<ul class="legend">{keys}</ul>' if keys else ""
    below = f"<p>{text(note)}</p>" if note else ""
    return (
        f"<figure><h3>{text(title)}</h3>{picture}{under}<figcaption>{below}"
        f"<details><summary>The numbers as a table</summary>{numbers}</details></figcaption></figure>"
    )


def swatch(kind: str) -> str:
    """What a kind of mark looks like, in a legend."""
    shapes = {
        "line": f'<polyline class="{kind}" points="1,6 23,6"/>',
        "dot": f'<circle class="{kind}" cx="12" cy="6" r="4"/>',
        "dot outside": f'<path class="{kind}" d="M12 1l-5 9h10z"/>',
    }
    bar = f'<rect class="{kind}" x="1" y="1" width="22" height="10"/>'
    shape = shapes.get(kind) or shapes.get(kind.split()[0], bar)
    return f'<svg viewBox="0 0 24 12" aria-hidden="true">{shape}</svg>'


def chosen(name: str, labels: Sequence[str], options: Sequence[Sequence[str]], panels: Mapping[Any, str]) -> str:
    """Panels of which selectors show one; a selector has a label and options, a panel a tuple of their numbers.

    Examples
    --------
    >>> chosen("law", ["point"], [["best", "worst"]], {(0,): "A", (1,): "B"}).count("data-pick")
    2
    """
    selects = []
    for k, (label, names) in enumerate(zip(labels, options, strict=True)):
        items = "".join(f'<option value="{i}">{text(item)}</option>' for i, item in enumerate(names))
        key = f"{name}-{k}"
        selects.append(f'<label for="{key}">{text(label)} <select id="{key}">{items}</select></label>')
    shown = "".join(f'<div data-pick="{"-".join(map(str, key))}">{panel}</div>' for key, panel in panels.items())
    return f'<div class="chosen"><div class="choice">{"".join(selects)}</div>{shown}</div>'


def page(title: str, lead: str, sections: Sequence[tuple[str, str, str]], foot: str) -> str:
    """A whole page from a title, what stands under it, and sections: an id, a heading and HTML each.

    The page may load nothing, and run no script but its own.
    """
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = "".join(f'<li><a href="#{key}">{text(head)}</a></li>' for key, head, _ in sections)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-head"><h2 id="{key}-head">{text(head)}</h2>{content}</section>'
        for key, head, content in sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{STYLE}</style></head><body>"
        f'<a class="skip" href="#main">To the verdict</a><header><h1>{text(title)}</h1><p>{text(lead)}</p>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header><main id="main">{body}</main>'
        f"<footer>{text(foot)}</footer><script>{SCRIPT}</script></body></html>\n"
    )
