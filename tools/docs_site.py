"""The hooks with which MkDocs builds the site from pages that also read well on a Git host.

Pages link to files outside docs/ (README, CONTRIBUTING, the code of the demo) by relative paths. In
the site each of those files is a page of its own, and the links lead there. The menu has the how-to
pages in the order and the sections of their index. Each former how-to page leads to where its text
is now. The search finds pages by words that docs/search.yaml has for them, too.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
NO_REFERENCE = re.compile(r"<autoref[^>]*identifier=\"(:[^\"]*)\"[^>]*>(.*?)</autoref>")
NO_DEFAULT = "<code>Sentinel.UNSET</code>"
# A heading of the index of the how-to pages, and the text under it.
SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
# The text after the language of a block is for tests/docs, or it is the name of a file.
FENCE = re.compile(r"^```(\w+) +(?:([\w./-]+\.(?:py|yaml|csv))|.*)$", re.MULTILINE)
# The documents at the root, and their names in the site.
DOCUMENTS = {
    "README.md": "first-steps.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
    "SUPPORT.md": "SUPPORT.md",
}
HOW_TO = "docs/how-to/"
# It has no script, so an anchor in the former page is lost.
REDIRECT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{to}">
<meta http-equiv="refresh" content="0; url={to}">
</head>
<body><p>This page is now <a href="{to}">here</a>.</p></body>
</html>
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the how-to pages in the menu."""
    known: set[str] = set()
    sections: list[Any] = []
    index = (ROOT / "docs/how-to/index.md").read_text(encoding="utf-8")
    for title, text in SECTION.findall(index):
        links = [link for link in dict.fromkeys(LINK.findall(text)) if not link.startswith("..")]
        pages = [f"how-to/{link}" for link in links]
        if new := [page for page in pages if page.endswith(".md") and page not in known]:
            known.update(new)
            sections.append({title: new})
    nav: list[Any] = config.nav or []
    for entry in nav:
        for title, target in entry.items():
            if target == "how-to/":
                entry[title] = ["how-to/index.md", *sections]
            elif target == "decisions/":
                pages = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
                entry[title] = ["decisions/index.md", *(f"decisions/{p.name}" for p in pages)]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to."""
    linked = set(DOCUMENTS)
    for path in (*(ROOT / "docs").rglob("*.md"), *map(ROOT.joinpath, DOCUMENTS)):
        name = path.relative_to(ROOT).as_posix()
        for link in LINK.findall(path.read_text(encoding="utf-8")):
            target = _resolve(name, link)
            if not target.startswith("docs/") and (ROOT / target).is_file():
                linked.add(target)
    for name in sorted(linked):
        text = (ROOT / name).read_text(encoding="utf-8")
        if name not in DOCUMENTS:
            text = f"# {name}\n\n````{Path(name).suffix[1:] or 'text'}\n{text}\n````\n"
        files.append(File.generated(config, _in_site(name), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the links of a page lead to pages of the site."""
    here = page.file.src_uri
    if here.startswith("source/"):
        return markdown
    if words := searched().get(here):
        page.meta["tags"] = words  # for the theme's search they count most
    name = {site: name for name, site in DOCUMENTS.items()}.get(here, f"docs/{here}")

    def lead(match: re.Match[str]) -> str:
        target = _in_site(_resolve(name, match[0]))
        return posixpath.relpath(target, posixpath.dirname(here) or ".")

    return FENCE.sub(_fence, LINK.sub(lead, markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show ``[#tag][:shard]`` as it is written, because it is not a reference.

    click's own word for "no default" is shown as "none".
    """
    return NO_REFERENCE.sub(r"[\2][\1]", html).replace(NO_DEFAULT, "none")


def on_post_build(config: MkDocsConfig) -> None:
    """Write a page at the place of each former how-to page."""
    for former, new in moved().items():
        file = Path(config.site_dir) / "how-to" / former.replace(".md", ".html")
        to = posixpath.relpath(new.replace(".md", ".html", 1), posixpath.dirname(former))
        file.parent.mkdir(exist_ok=True)
        file.write_text(REDIRECT.format(to=to), encoding="utf-8")


def moved() -> dict[str, str]:
    """Return each former how-to page with the page and the section that have its text now."""
    found: dict[str, str] = yaml.safe_load((ROOT / HOW_TO / "moved.yaml").read_text("utf-8"))
    return found


def searched() -> dict[str, list[str]]:
    """Return the pages that are to be found first, with the words for which they are."""
    found: dict[str, list[str]] = yaml.safe_load((ROOT / "docs/search.yaml").read_text("utf-8"))
    return found


def _fence(match: re.Match[str]) -> str:
    return f"```{match[1]}" + (f' title="{match[2]}"' if match[2] else "")


def _resolve(name: str, link: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link))
    former = target.removeprefix(HOW_TO)
    if name == "CHANGELOG.md" and (new := moved().get(former)):  # it keeps what it said then
        return HOW_TO + new.partition("#")[0]
    return target


def _in_site(name: str) -> str:
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return DOCUMENTS.get(name, f"source/{name}.md")
