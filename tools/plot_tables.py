#!/usr/bin/python3
"""plot_tables.py [--check] PAGE draws the plots of a page from its tables, as SVG, or checks that they are as drawn.

A plot stands behind its table: <!-- plot: columns 1-3; unit GB/s --> and the line after it names the picture. Rows are the
groups of bars, the columns named (the first of a table is 0) the bars of a group."""
import html
import os
import re
import sys

WIDTH, LABELS, BAR, GAP, TOP = 760, 250, 11, 12, 34
LIGHT = ["#2f6db5", "#d0741c", "#3f8f4f", "#a04a9c", "#7a6a50"]
DARK = ["#7db4f0", "#f0a860", "#86cf95", "#dc9ad8", "#c8b898"]


def tables(page):
    """Rows, columns, unit and picture of each plot."""
    pattern = r"((?:^\|.*\n)+)\n<!-- plot: columns (\d+)-(\d+); unit (.*?) -->\n!\[(.*?)\]\((.*?)\)"
    for table, first, last, unit, title, picture in re.findall(pattern, page, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
        yield rows[0], rows[2:], range(int(first), int(last) + 1), unit, title, picture


def bar(y, length, colour, text):
    x = LABELS + max(length, 1) + 4
    return (f'<rect class="c{colour}" x="{LABELS}" y="{y}" width="{max(length, 1):.1f}" height="{BAR - 2}"/>'
            f'<text x="{x:.1f}" y="{y + BAR - 3}" class="n">{text}</text>')


def draw(header, rows, columns, unit, title):
    names = [header[column].replace("`", "") for column in columns]
    most = max(float(row[column]) for row in rows for column in columns)
    scale = (WIDTH - LABELS - 60) / most
    out, y = [], TOP
    for row in rows:
        middle = y + len(columns) * BAR / 2 + 4
        out.append(f'<text x="{LABELS - 8}" y="{middle:.1f}" text-anchor="end">{html.escape(row[0])}</text>')
        for colour, column in enumerate(columns):
            out.append(bar(y, float(row[column]) * scale, colour, row[column]))
            y += BAR
        y += GAP
    x = 8.0
    legend = []
    for colour, name in enumerate(names):
        legend.append(f'<rect class="c{colour}" x="{x:.1f}" y="8" width="10" height="10"/>'
                      f'<text x="{x + 14:.1f}" y="17">{html.escape(name)}</text>')
        x += 14 + 6.6 * len(name) + 16
    colours = "".join(f".c{i}{{fill:{c}}}" for i, c in enumerate(LIGHT))
    dark = "".join(f".c{i}{{fill:{c}}}" for i, c in enumerate(DARK))
    height = y + 14
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f"<style>text{{font:12px sans-serif;fill:#222}}.n{{font-size:10px}}.b{{fill:#fff}}{colours}"
        f"@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.b{{fill:#16181c}}{dark}}}</style>",
        f'<rect class="b" width="{WIDTH}" height="{height}"/>', *legend, *out,
        f'<text x="{WIDTH - 8}" y="{height - 6}" text-anchor="end" class="n">{html.escape(header[0])}; {html.escape(unit)}</text>', "</svg>", ""])


def main(arguments):
    check = arguments[0] == "--check"
    page = arguments[-1]
    wrong = count = 0
    for header, rows, columns, unit, title, picture in tables(open(page).read()):
        path = os.path.join(os.path.dirname(page), picture)
        text = draw(header, rows, columns, unit, title)
        count += 1
        if not check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        elif not os.path.exists(path) or open(path).read() != text:
            print(f"{picture} is not of its table; tools/plot_tables.py {page} draws it")
            wrong += 1
    print(f"{count} plots, {wrong} wrong")
    return wrong > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
