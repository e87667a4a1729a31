#!/usr/bin/env python3
"""Make the tables of the benchmark from packages: sentences.parquet and documents.parquet.

corpus.py --ibid PATH --size S --out DIR [--packages DIR]

Packages that are not in --packages come with `apt-get download`, and those of npm with `npm pack`; nothing is installed.
`ibid ingest` reads their files and cuts sentences; queries/english.sql or queries/chinese.sql makes plain text of them, and
queries/sentences.sql and queries/documents.sql (id, text). DIR/packages.json has the versions.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

QUERIES = Path(__file__).resolve().parent / "queries"
SIZES = {
    "poems": ["chinese-poetry@2.0.1"],
    "S": "clang-14-doc clang-15-doc clang-16-doc".split(),
    "M": ["linux-doc-6.1"],
    "L": """apache2-doc clang-14-doc clang-15-doc clang-16-doc cppreference-doc-en-html debian-handbook erlang-doc ghc-doc
gnome-user-docs installation-guide-amd64 libboost1.74-doc libboost1.81-doc libgtk-3-doc libreoffice-help-en-us
libstdc++-11-doc libstdc++-12-doc linux-doc-6.1 llvm-13-doc llvm-14-doc llvm-15-doc llvm-16-doc nodejs-doc octave-doc
openjdk-17-doc perl-doc postgresql-doc-15 python-django-doc python-pandas-doc python-scipy-doc python-sympy-doc
python3.11-doc qtbase5-doc-html sagemath-doc sqlite3-doc wx3.2-doc""".split(),
}
# What `ibid ingest` reads, and reStructuredText, which it reads as text.
TEXTS = re.compile(r"(.*)\.(html?|xhtml|txt|md|rst)(\.gz)?$")


def unpack(deb, folder):
    """The texts of a package as files of a folder, with an extension that says what is in them."""
    process = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
        for member in tar:
            name = TEXTS.match(member.name)
            if member.isfile() and name:
                kind, compressed = {"xhtml": "html", "rst": "rst.txt"}.get(name[2], name[2]), name[3] or ""
                path = folder / f"{name[1]}.{kind}{compressed}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
    if process.wait():
        sys.exit(f"dpkg-deb could not read {deb}")


def unpack_poems(package, folder):
    """The poems of the npm package as JSON lines: a poem is an object with a list of lines."""
    folder.mkdir(parents=True)
    with tarfile.open(package) as tar, open(folder / "poems.jsonl", "w") as out:
        for member in tar:
            if not (member.isfile() and member.name.endswith(".json")):
                continue
            try:
                poems = json.loads(tar.extractfile(member).read())
            except ValueError:
                continue  # some files of the package are no JSON
            for number, poem in enumerate(poems if isinstance(poems, list) else [poems]):
                lines = (poem.get("paragraphs") or poem.get("content")) if isinstance(poem, dict) else None
                if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                    poem = {"id": f"{member.name}#{number}", "text": "\n".join(lines)}
                    out.write(json.dumps(poem, ensure_ascii=False) + "\n")


def cut_row_groups(path):
    """Writes a table again with many row groups, over which tools share out the reading among cores."""
    import pyarrow.parquet  # here, because bench.py takes SIZES from this module and stays small

    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path, row_group_size=50_000, compression="zstd")


def fetch(name, folder):
    """The file of a package, and its version."""
    if "@" in name:
        package, version = name.split("@")
        file = folder / f"{package}-{version}.tgz"
        if not file.exists():
            subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, stdout=sys.stderr)
        return file, version
    if not list(folder.glob(f"{name}_*.deb")):
        subprocess.run(["apt-get", "-q", "download", name], cwd=folder, check=True, stdout=sys.stderr)
    file = sorted(folder.glob(f"{name}_*.deb"))[-1]
    return file, subprocess.check_output(["dpkg-deb", "-f", file, "Version"], text=True).strip()


def make(ibid, size, out, packages):
    """Makes the tables unless they are there; packages.json is written last."""
    record = out / "packages.json"
    if record.exists():
        return
    out.mkdir(parents=True, exist_ok=True)
    packages.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out / "texts", ignore_errors=True)
    versions = {}
    for name in SIZES[size]:
        file, version = fetch(name, packages)
        versions[name.split("@")[0]] = version
        (unpack_poems if file.suffix == ".tgz" else unpack)(file, out / "texts" / name)

    def run(*command):
        subprocess.run([ibid, *command], cwd=out, check=True)

    run("ingest", "texts", "-o", "corpus", "--on-error", "skip", "--max-record-bytes", "64MiB")
    shutil.rmtree(out / "texts")
    plain = QUERIES / ("chinese.sql" if size == "poems" else "english.sql")
    for table in ("sentences", "documents"):
        run("sql", "-q", "-f", plain, "-p", f"table=corpus/{table}.parquet", "-o", "plain.parquet")
        run("sql", "-q", "-f", QUERIES / f"{table}.sql", "-o", f"{table}.parquet")
        cut_row_groups(out / f"{table}.parquet")
    odd = [ibid, "sql", "-q", "--format", "ndjson", "-f", QUERIES / "odd_words.sql"]
    if json.loads(subprocess.check_output(odd, cwd=out))["odd"]:
        sys.exit("words(text) is not the text cut at spaces, so the tools would not see the same sets")
    shutil.rmtree(out / "corpus")
    (out / "plain.parquet").unlink()
    record.write_text(json.dumps(versions))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ibid", required=True, help="the program")
    parser.add_argument("--size", choices=SIZES, default="M")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--packages", type=Path, help="where the packages lie or go (default DIR/packages)")
    args = parser.parse_args()
    make(Path(args.ibid).resolve(), args.size, args.out.resolve(), (args.packages or args.out / "packages").resolve())


if __name__ == "__main__":
    main()
