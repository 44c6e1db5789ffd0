"""Comparing trees, and hypothesis strategies for source text."""

from collections.abc import Mapping

from hypothesis import strategies as st

from kubectl_dra.cel.syntax.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListLit,
    Literal,
    MacroCall,
    MapLit,
    MessageLit,
    Node,
    Parsed,
    Select,
)


def shape(parsed: Parsed) -> object:
    """The tree without positions, macros as written: equal for equal expressions."""
    return _shape(parsed.root, parsed.macros)


def _shape(node: Node | Entry | str | None, macros: Mapping[int, MacroCall]) -> object:
    def each(nodes):
        return tuple(_shape(child, macros) for child in nodes)

    macro = macros.get(id(node))
    if macro is not None:
        return "macro", macro.function, _shape(macro.target, macros), each(macro.args), _expanded(node, macros)
    return _expanded(node, macros)


def _expanded(node: Node | Entry | str | None, macros: Mapping[int, MacroCall]) -> object:
    def of(child):
        return _shape(child, macros)

    match node:
        case Literal():
            return "literal", node.kind, repr(node.value)
        case Ident():
            return "ident", node.name, node.absolute
        case Select():
            return "select", of(node.operand), node.name, node.test_only
        case Call():
            return "call", node.function, of(node.target), tuple(map(of, node.args)), node.absolute
        case ListLit():
            return "list", tuple(map(of, node.elements)), node.optional
        case MapLit():
            return "map", tuple(map(of, node.entries))
        case MessageLit():
            return "message", node.name, tuple(map(of, node.entries))
        case Entry():
            return "entry", of(node.key), of(node.value), node.optional
        case Comprehension():
            parts = (node.range, node.init, node.cond, node.step, node.result)
            return "loop", node.var1, node.var2, node.acc, tuple(map(of, parts))
    return node


IDENTIFIERS = st.sampled_from(["a", "b", "x", "device", "cel", "k", "_1", "optional"])
FIELDS = st.one_of(IDENTIFIERS, st.sampled_from(["while", "`in`", "`a.b/c d-e`", "attributes", "driver"]))
PLAIN_TEXT = st.text(st.characters(exclude_characters="\r\n\\\"'", exclude_categories=["Cs"]), max_size=5)
ODD_LITERALS = ["b'\\xff\\101'", "r'\\d'", "'''a\n'b'''", "0x1F", ".5e-3", '"\\u2603\\n"']
LITERALS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.integers(0, 2**64 - 1).map(lambda n: f"{n}u"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    PLAIN_TEXT.map(lambda text: f'"{text}"'),
    st.sampled_from(["true", "false", "null", *ODD_LITERALS]),
)
OPERATORS = st.sampled_from(["||", "&&", "<", "<=", ">", ">=", "==", "!=", "in", "+", "-", "*", "/", "%"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    args = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.tuples(inner, OPERATORS, inner).map(" ".join),
        st.tuples(inner, inner, inner).map(lambda t: f"{t[0]} ? {t[1]} : {t[2]}"),
        st.tuples(st.sampled_from(["!", "-", "!!", "--", "- "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, st.sampled_from([".", ".?"]), FIELDS).map("".join),
        st.tuples(inner, st.sampled_from(["[", "[?"]), inner).map(lambda t: f"{t[0]}{t[1]}{t[2]}]"),
        st.tuples(inner, IDENTIFIERS, args).map(lambda t: f"{t[0]}.{t[1]}({t[2]})"),
        st.tuples(st.sampled_from(["size", ".type", "has"]), args).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, st.sampled_from(["all", "exists", "map", "filter", "optMap", "sortBy"]), inner).map(
            lambda t: f"{t[0]}.{t[1]}(v, {t[2]})"
        ),
        st.tuples(inner, st.sampled_from(["all", "existsOne", "transformMap"]), inner).map(
            lambda t: f"{t[0]}.{t[1]}(i, v, {t[2]})"
        ),
        st.tuples(inner, FIELDS).map(lambda t: f"has({t[0]}.{t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"cel.bind(v, {t[0]}, {t[1]})"),
        st.lists(inner, max_size=3).map(lambda parts: f"[{', ?'.join(parts)}]"),
        st.lists(st.tuples(inner, inner), max_size=2).map(lambda p: f"{{{', '.join(f'{k}: {v}' for k, v in p)}}}"),
        st.tuples(FIELDS, inner).map(lambda t: f"a.B{{{t[0]}: {t[1]}, ?f: 1}}"),
        st.lists(inner, min_size=3, max_size=9).map(" && ".join),
        st.lists(inner, min_size=3, max_size=9).map(" || ".join),
    )


# Mostly well-formed text; precedence decides what it means, and some of it is refused.
EXPRESSIONS = st.recursive(st.one_of(IDENTIFIERS, LITERALS), _extend, max_leaves=12)
