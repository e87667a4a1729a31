#!/usr/bin/env python3
"""Make a MediaWiki dump of real text: the HTML pages of Debian documentation packages, as wiki markup.

dump.py --out FILE.xml[.bz2] [--packages DIR] [--megabytes 200]

Headings, links, emphasis, lists, tables and code become wiki markup; each page gets an infobox and categories, and every fifth
paragraph a reference with a citation template and a comment, so that there is as much markup to take off as in an article of
Wikipedia. Pages are added until the XML has the size that is asked for. Packages come with `apt-get download`.
"""
import argparse
import bz2
import re
import sys
import tarfile
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.sax.saxutils import escape

from corpus import SIZES, fetch

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Documentation</sitename>
    <dbname>docwiki</dbname>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>0</ns>
    <id>{number}</id>
    <revision>
      <id>{revision}</id>
      <timestamp>2023-04-01T00:00:00Z</timestamp>
      <contributor>
        <username>Packager</username>
        <id>1</id>
      </contributor>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{bytes}" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""
BLOCKS = {"p", "div", "li", "dd", "dt", "td", "th", "tr", "pre", "section", "article", "br", "blockquote"}
AROUND = {"b": "'''", "strong": "'''", "i": "''", "em": "''"}


class ToMarkup(HTMLParser):
    """Wiki markup of an HTML page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.out, self.silent, self.link, self.paragraphs = [], 0, None, 0

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style", "nav", "head"):
            self.silent += 1
        elif re.fullmatch("h[1-6]", tag):
            self.out.append("\n\n" + "=" * max(2, int(tag[1])) + " ")
        elif tag in AROUND:
            self.out.append(AROUND[tag])
        elif tag == "a":
            self.link = len(self.out)
        elif tag == "table":
            self.out.append("\n{| class=\"wikitable\"\n")
        elif tag == "tr":
            self.out.append("\n|-\n")
        elif tag in ("td", "th"):
            self.out.append("\n| ")
        elif tag == "li":
            self.out.append("\n* ")
        elif tag in BLOCKS:
            self.out.append("\n\n" if tag != "br" else "<br />")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav", "head"):
            self.silent = max(0, self.silent - 1)
        elif re.fullmatch("h[1-6]", tag):
            self.out.append(" " + "=" * max(2, int(tag[1])) + "\n")
        elif tag in AROUND:
            self.out.append(AROUND[tag])
        elif tag == "a" and self.link is not None:
            label = " ".join("".join(self.out[self.link:]).split())
            del self.out[self.link:]
            self.link = None
            if label:
                self.out.append(f"[[{label.capitalize()}|{label}]]" if len(label) < 60 else label)
        elif tag == "table":
            self.out.append("\n|}\n")
        elif tag == "p":
            self.paragraphs += 1
            if self.paragraphs % 5 == 0:
                n = self.paragraphs
                self.out.append(f"<ref name=\"r{n}\">{{{{cite web |url=https://example.org/{n} |title=Manual, part {n} "
                                f"|author=The authors |date=1 April 2023}}}}</ref><!-- part {n} -->")

    def handle_data(self, data):
        if not self.silent:
            self.out.append(data if self.link is None else data.replace("|", " "))


def pages(packages):
    """Titles and HTML of the pages of all packages that have prose."""
    for name in SIZES["L"]:
        deb, _ = fetch(name, packages)
        process = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
        with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
            for member in tar:
                if member.isfile() and re.search(r"\.x?html?$", member.name) and 4_000 < member.size < 400_000:
                    title = f"{name}: {Path(member.name).stem} {member.name.count('/')}"
                    yield title, tar.extractfile(member).read().decode("utf-8", "replace")
        process.wait()


def markup(title, page):
    parser = ToMarkup()
    parser.feed(page)
    text = re.sub(r"\n{3,}", "\n\n", "".join(parser.out)).strip()
    box = f"{{{{Infobox software\n| name = {title}\n| license = [[Free software|free]]\n| size = {{{{nowrap|{len(page)} B}}}}\n}}}}\n"
    package = title.split(":")[0]
    return f"{box}{text}\n\n== References ==\n{{{{reflist}}}}\n\n[[Category:{package}]]\n[[Category:Manuals]]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    args = parser.parse_args()
    packages = (args.packages or args.out.parent / "packages").resolve()
    packages.mkdir(parents=True, exist_ok=True)
    written, number, titles = 0, 0, set()
    with (bz2.open if args.out.suffix == ".bz2" else open)(args.out, "wt", encoding="utf-8") as out:
        out.write(HEAD)
        for title, page in pages(packages):
            if title in titles:
                continue
            titles.add(title)
            number += 1
            # What XML cannot hold.
            text = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", markup(title, page))
            page = PAGE.format(title=escape(title), number=number, revision=1_000_000 + number,
                               bytes=len(text.encode()), text=escape(text, {'"': "&quot;"}))
            out.write(page)
            written += len(page.encode())
            if written > args.megabytes * 1_000_000:
                break
        out.write("</mediawiki>\n")
    print(f"{number} pages, {written / 1e6:.0f} MB of XML", file=sys.stderr)


main()
