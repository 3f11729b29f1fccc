"""Parse an expression. Source: upstream ``cel-go/parser/{parser.go,gen/CEL.g4}``.

Errors of syntax have the texts of ANTLR in the common cases; after some only the first is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from scheduler_engine.api.cel.lexing import CelSyntaxError, Token, bytes_value, string_value
from scheduler_engine.api.cel.macros import GLOBAL_MACROS, MEMBER_MACROS, NAMESPACES, MemberMacros
from scheduler_engine.api.cel.nodes import Call, Const, Ident, ListOf, MapOf, Node, Select, parts_of
from scheduler_engine.api.cel.reading import BEGINNINGS, EXPECTED, EXPECTED_IN_INDEX, Reader
from scheduler_engine.api.cel.values import LARGEST_INT, LARGEST_UINT, Uint

RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
        *("namespace", "return", "var", "void", "while"),
    )
)
LEVELS = (("||",), ("&&",), ("<", "<=", ">=", ">", "==", "!=", "in"), ("+", "-"), ("*", "/", "%"))
"""Operators by precedence."""
LOGICAL = 2
"""The number of levels of logical operators."""
DEEPEST = 40
DEEPEST_TREE = 150
"""How deep brackets and operators can be nested here. Kubernetes' limits of 250 would exhaust Python's stack."""
MOST_NODES = 10_000
"""The most parts of an expression: each optMap() doubles those before it. Kubernetes has no such limit."""
MOST_DIGITS = 21
"""More digits make a number too large in any case."""
LITERAL_NAMES: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def parse(text: str, macros: MemberMacros = MEMBER_MACROS) -> Node:
    """Return an expression. Raises CelSyntaxError."""
    root = _Parser(text, macros).whole()
    level, depth, count = [root], 0, 0
    while level:
        depth += 1
        count += len(level)
        if count > MOST_NODES:
            raise CelSyntaxError(level[0].at, f"expression has more than {MOST_NODES} parts")
        if depth > DEEPEST_TREE:
            raise too_deep(level[0].at)
        level = [part for node in level for part in parts_of(node)]
    return root


def too_deep(at: int) -> CelSyntaxError:
    return CelSyntaxError(at, f"expression recursion limit exceeded: {DEEPEST}")


def _balanced(terms: list[Node], signs: list[Token]) -> Node:
    """Return a logical chain as a tree of little depth."""
    if not signs:
        return terms[0]
    middle = len(signs) // 2
    left, right = _balanced(terms[: middle + 1], signs[:middle]), _balanced(terms[middle + 1 :], signs[middle + 1 :])
    return Call(signs[middle].at, f"_{signs[middle].text}_", [left, right])


def _number(text: str) -> int:
    """Return the number that digits stand for; one that is too large for 64 bits may be cut."""
    base, digits = (16, text[2:]) if text[:2] == "0x" else (10, text)
    return int(digits.lstrip("0")[:MOST_DIGITS] or "0", base)


class _Parser(Reader):
    def __init__(self, text: str, macros: MemberMacros) -> None:
        super().__init__(text)
        self.macros, self.depth = macros, 0

    def whole(self) -> Node:
        """Return the expression. Raises CelSyntaxError, with all that is wrong."""
        try:
            found = self.expression()
            if self.next.kind != "end":
                if self.after.kind != "end":
                    raise self.mismatched("<EOF>")
                self.leave_out("<EOF>")
            if self.problems:
                raise CelSyntaxError(*self.problems.pop())
        except CelSyntaxError as error:
            error.problems = [*self.problems, *error.problems]
            raise
        return found

    def spanned(self, node: Node, start: int) -> Node:
        """Note that a node goes from ``start`` to the last token that was read."""
        node.span = start, self.end
        return node

    @property
    def end(self) -> int:
        """Return where the last token that was read ends."""
        last = self.tokens[self.index - 1]
        return last.at + len(last.text)

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise too_deep(self.next.at)
        start = self.next.at
        found = self.binary(0)
        if (sign := self.take("?")) is not None:
            yes = self.binary(0)
            self.expect(":")
            found = self.spanned(Call(sign.at, "_?_:_", [found, yes, self.expression()]), start)
        self.depth -= 1
        return found

    def binary(self, level: int) -> Node:
        """Read operators of this level of precedence, and of those above it."""
        if level == len(LEVELS):
            return self.unary()
        start = self.next.at
        found = self.binary(level + 1)
        terms, signs = [found], list[Token]()
        while (sign := self.take(*LEVELS[level])) is not None:
            signs.append(sign)
            terms.append(self.binary(level + 1))
            if level >= LOGICAL:
                name = "@in" if sign.text == "in" else f"_{sign.text}_"
                found = self.spanned(Call(sign.at, name, [found, terms[-1]]), start)
        return _balanced(terms, signs) if level < LOGICAL else found

    def unary(self) -> Node:
        for sign, name in (("!", "!_"), ("-", "-_")):
            first = self.next
            if first.kind != sign:
                continue
            if sign == "-" and self.after.kind in ("int", "double"):
                break
            count = 0
            while self.take(sign) is not None:
                count += 1
            if self.next.kind == "!" or (self.next.kind == "-" and self.after.kind not in ("int", "double")):
                raise self.no_way(first)
            inner = self.member()
            return self.spanned(Call(first.at, name, [inner]), first.at) if count % 2 else inner
        return self.member()

    def member(self) -> Node:
        start = self.next.at
        found = self.primary()
        while (token := self.take(".", "[")) is not None:
            optional = self.take("?") is not None
            read = self.index_of if token.kind == "[" else self.field
            found = self.spanned(read(found, token, optional), start)
        return found

    def index_of(self, operand: Node, sign: Token, optional: bool) -> Node:
        if self.next.kind == "end":
            raise self.mismatched(EXPECTED_IN_INDEX)
        self.open += 1
        inner = self.expression()
        self.open -= 1
        self.expect("]")
        return Call(sign.at, "_[?_]" if optional else "_[_]", [operand, inner])

    def field(self, operand: Node, sign: Token, optional: bool) -> Node:
        if self.next.kind == "quoted":
            raise CelSyntaxError(self.next.at, "unsupported syntax: '`'")
        if self.next.text in LITERAL_NAMES:
            raise self.mismatched("IDENTIFIER")
        if self.next.kind != "ident" or self.next.text == "in":
            raise self.no_way(sign)
        name = self.expect("ident").text
        if optional:
            return Call(sign.at, "_?._", [operand, Const(sign.at, name)])
        opened = self.take("(")
        if opened is None:
            return Select(sign.at, operand, name)
        args = self.arguments()
        macro = self.macros.get((name, len(args)))
        if macro is not None and (not isinstance(operand, Ident) or operand.name not in NAMESPACES):
            return macro(opened.at, operand, args)
        if isinstance(operand, Ident) and (f"{operand.name}.{name}", len(args)) in GLOBAL_MACROS:
            return GLOBAL_MACROS[f"{operand.name}.{name}", len(args)](opened.at, args)
        return Call(opened.at, name, args, operand)

    def arguments(self) -> list[Node]:
        found: list[Node] = []
        self.open += 1
        self.begin(")")
        while not found or self.take(",") is not None:
            if not found and self.next.kind == ")":
                break
            found.append(self.expression())
        self.open -= 1
        self.expect(")")
        return found

    def items(self, closing: str) -> Iterator[None]:
        """Pause before each item of a list or map, and go past the commas and the closing bracket."""
        self.open += 1
        self.begin(closing)
        ends, more = f"{{'{closing}', ','}}", self.take(",") is None
        while more and self.next.kind not in (closing, "end"):
            yield
            if self.next.kind != closing:
                self.comma(closing, ends)
        self.open -= 1
        self.expect(closing)

    def comma(self, closing: str, ends: str) -> None:
        if self.next.kind != ",":
            if self.after.kind not in (closing, ","):
                raise self.mismatched(ends)
            self.leave_out(ends)
        self.take(",")

    def primary(self) -> Node:
        token = self.next
        if self.take("(") is not None:
            self.open += 1
            inner = self.expression()
            self.open -= 1
            self.expect(")")
            return inner
        if self.take("[") is not None:
            return self.spanned(self.list_of(token), token.at)
        if self.take("{") is not None:
            return self.spanned(self.map_of(token), token.at)
        if token.kind == "." or (token.kind == "ident" and token.text != "in"):
            return self.spanned(self.named(), token.at)
        return self.spanned(self.literal(), token.at)

    def list_of(self, opened: Token) -> Node:
        items: list[Node] = []
        optional: list[int] = []
        for _ in self.items("]"):
            if self.take("?") is not None:
                optional.append(len(items))
            items.append(self.expression())
        return ListOf(opened.at, items, frozenset(optional))

    def map_of(self, opened: Token) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        for _ in self.items("}"):
            optional = self.take("?") is not None
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression(), optional))
        return MapOf(opened.at, entries)

    def named(self) -> Node:
        dot = self.take(".")
        if dot is not None and self.next.kind != "ident":
            raise self.no_way(dot)
        token = self.expect("ident")
        if token.text in LITERAL_NAMES:
            return Const(token.at, LITERAL_NAMES[token.text])
        if token.text in RESERVED:
            raise CelSyntaxError(token.at, f"reserved identifier: {token.text}")
        opened = self.take("(")
        if opened is None:
            return Ident(token.at, token.text)
        args = self.arguments()
        macro = GLOBAL_MACROS.get((token.text, len(args)))
        return Call(opened.at, token.text, args) if macro is None else macro(opened.at, args)

    def literal(self) -> Node:
        first = self.next
        minus = self.take("-")
        token = self.next
        sign = -1 if minus is not None else 1
        self.index += 1
        if token.kind == "double":
            value = sign * float(token.text)
            if math.isinf(value):
                raise CelSyntaxError(first.at, "invalid double literal")
            return Const(first.at, value)
        if token.kind == "int":
            return self.whole_number(first, token, sign)
        if token.kind == "uint" and minus is None:
            number = _number(token.text[:-1])
            if number > LARGEST_UINT:
                raise CelSyntaxError(first.at, "invalid uint literal")
            return Const(first.at, Uint(number))
        if token.kind == "string":
            return Const(first.at, string_value(token))
        if token.kind == "bytes":
            return Const(first.at, bytes_value(token))
        self.index -= 1
        if self.next.kind == "end" or self.after.kind not in BEGINNINGS:
            raise self.mismatched(EXPECTED)
        self.leave_out(EXPECTED)
        return self.primary()

    def whole_number(self, first: Token, token: Token, sign: int) -> Node:
        number = sign * _number(token.text)
        if not -LARGEST_INT - 1 <= number <= LARGEST_INT:
            raise CelSyntaxError(first.at, "invalid int literal")
        return Const(first.at, number)
