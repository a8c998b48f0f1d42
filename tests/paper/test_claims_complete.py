"""Every number of the paper's prose stands in the ledger, in a claim of the same section."""

import re
from collections.abc import Iterator

from bench.paper.claims import text_claims

NUMBER = re.compile(r"\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?")

# Not prose: the cells of tables and of equations, which are claims of their own or definitions, and references.
LEFT_OUT = (
    r"(?<!\\)%.*",
    r"(?s)\\begin\{(tabular|equation|align)\*?\}.*?\\end\{\1\*?\}",
    r"\\(?:cite|ref|eqref|vspace|includegraphics|input|setlength|renewcommand|resizebox)\*?(?:\[[^]]*\])?(?:\{[^}]*\})*",
)

# Digits that claim nothing, and why.
EXCEPTIONS = {
    r"F1": "the name of a metric",
    r"N1,N2,N3": "names of stages of sleep",
    r"S4D": "the name of an initialisation",
    r"1-D": "a kind of convolution",
    r"\\textbf\{P\d:|\\textbf\{\(\d\)": "numbers of principles and of steps",
    r"[_^](?:\{[^{}]*\}|\w)": "indices and powers",
    r"\[0,1\)|r>0|\\mathbf\{0\}|Bernoulli\}\(1|\\times 1\}|\{1 \\times": "domains, distributions and shapes",
    r"\\rfloor \+ 1": "the definition of the number of tokens",
}


def prose(paper: str) -> Iterator[tuple[str, str]]:
    """Yield (label of the section, line) of abstract and text, without what LEFT_OUT and EXCEPTIONS say."""
    text = paper[paper.index(r"\begin{abstract}") : paper.index(r"\section*{References}")]
    for pattern in LEFT_OUT:
        text = re.sub(pattern, " ", text)
    section = current = "abstract"
    for line in text.splitlines():
        if line.startswith(r"\section"):
            section = ""
        elif line.startswith(r"\subsection"):
            current = section
        elif named := re.match(r"\\label\{(sec:\w+)\}", line):
            current = named[1]
            section = section or current
        else:
            yield current, re.sub("|".join(EXCEPTIONS), " ", line)


def numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in NUMBER.findall(text)}


def test_every_number_of_the_prose_is_in_a_claim_of_its_section(paper: str) -> None:
    missing = []
    for section, line in prose(paper):
        here = [one for one in text_claims() if section in re.split(r"[,;] ", one.place)]
        claimed = [numbers(f"{one.text} {one.value}") for one in here]
        lacking = numbers(line) - set().union(*claimed)
        missing += [(section, number, line.strip()[:80]) for number in sorted(lacking)]
    assert not missing, "\n".join(map(str, missing))


def test_every_exception_is_met(paper: str) -> None:
    assert [pattern for pattern in EXCEPTIONS if not re.search(pattern, paper)] == []
