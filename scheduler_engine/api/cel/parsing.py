"""Parse an expression. Source: upstream ``cel-go/parser/{parser.go,gen/CEL.g4}``.

Errors of syntax have the texts of ANTLR in the common cases.
"""

from __future__ import annotations

import math

from scheduler_engine.api.cel.lexing import CelSyntaxError, Token, bytes_value, string_value, tokens
from scheduler_engine.api.cel.macros import GLOBAL_MACROS, MEMBER_MACROS, NAMESPACES
from scheduler_engine.api.cel.nodes import Call, Const, Ident, ListOf, MapOf, Node, Select, parts_of
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
MOST_DIGITS = 21
"""More digits make a number too large in any case."""
EXPECTED = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def parse(text: str) -> Node:
    """Return an expression. Raises CelSyntaxError."""
    root = _Parser(text).whole()
    level, depth = [root], 0
    while level:
        depth += 1
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


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = list(tokens(text))
        self.index = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self, *kinds: str) -> Token | None:
        """Return the next token if it is one of these, and go past it."""
        token = self.next
        if token.kind not in kinds and not (token.kind == "ident" and token.text in kinds):
            return None
        self.index += 1
        return token

    def expect(self, kind: str) -> Token:
        token = self.take(kind)
        if token is None:
            wanted = "IDENTIFIER" if kind == "ident" else f"'{kind}'"
            raise self.mismatched(wanted)
        return token

    def mismatched(self, wanted: str) -> CelSyntaxError:
        token = self.next
        shown = token.text if token.kind == "end" else f"'{token.text}'"
        text = f"mismatched input {shown} expecting {wanted}"
        return CelSyntaxError(token.at, f"Syntax error: {text}".replace("input <EOF>", "input '<EOF>'"))

    def whole(self) -> Node:
        found = self.expression()
        if self.next.kind != "end":
            raise self.mismatched("<EOF>")
        return found

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise too_deep(self.next.at)
        found = self.binary(0)
        if (sign := self.take("?")) is not None:
            yes = self.binary(0)
            self.expect(":")
            found = Call(sign.at, "_?_:_", [found, yes, self.expression()])
        self.depth -= 1
        return found

    def binary(self, level: int) -> Node:
        """Read operators of this level of precedence, and of those above it."""
        if level == len(LEVELS):
            return self.unary()
        terms, signs = [self.binary(level + 1)], list[Token]()
        while (token := self.take(*LEVELS[level])) is not None:
            signs.append(token)
            terms.append(self.binary(level + 1))
        if level < LOGICAL:
            return _balanced(terms, signs)
        found = terms[0]
        for sign, term in zip(signs, terms[1:], strict=True):
            found = Call(sign.at, "@in" if sign.text == "in" else f"_{sign.text}_", [found, term])
        return found

    def unary(self) -> Node:
        for sign, name in (("!", "!_"), ("-", "-_")):
            first = self.next
            if first.kind != sign:
                continue
            if sign == "-" and self.tokens[self.index + 1].kind in ("int", "double"):
                break
            count = 0
            while self.take(sign) is not None:
                count += 1
            inner = self.member()
            return Call(first.at, name, [inner]) if count % 2 else inner
        return self.member()

    def member(self) -> Node:
        found = self.primary()
        while (token := self.take(".", "[")) is not None:
            optional = self.take("?") is not None
            found = self.index_of(found, token, optional) if token.kind == "[" else self.field(found, token, optional)
        return found

    def index_of(self, operand: Node, sign: Token, optional: bool) -> Node:
        inner = self.expression()
        self.expect("]")
        return Call(sign.at, "_[?_]" if optional else "_[_]", [operand, inner])

    def field(self, operand: Node, sign: Token, optional: bool) -> Node:
        quoted = self.take("quoted")
        name = quoted.text[1:-1] if quoted is not None else self.expect("ident").text
        if optional:
            return Call(sign.at, "_?._", [operand, Const(sign.at, name)])
        opened = self.take("(") if quoted is None else None
        if opened is None:
            return Select(sign.at, operand, name)
        args = self.arguments(")")
        macro = MEMBER_MACROS.get((name, len(args)))
        if macro is not None and (not isinstance(operand, Ident) or operand.name not in NAMESPACES):
            return macro(opened.at, operand, args)
        if isinstance(operand, Ident) and (f"{operand.name}.{name}", len(args)) in GLOBAL_MACROS:
            return GLOBAL_MACROS[f"{operand.name}.{name}", len(args)](opened.at, args)
        return Call(opened.at, name, args, operand)

    def arguments(self, closing: str) -> list[Node]:
        found: list[Node] = []
        while self.take(closing) is None:
            if found:
                self.expect(",")
            found.append(self.expression())
        return found

    def primary(self) -> Node:
        token = self.next
        if self.take("(") is not None:
            inner = self.expression()
            self.expect(")")
            return inner
        if self.take("[") is not None:
            return self.list_of(token)
        if self.take("{") is not None:
            return self.map_of(token)
        if token.kind in ("ident", "."):
            return self.named()
        return self.literal()

    def list_of(self, opened: Token) -> Node:
        items: list[Node] = []
        optional: list[int] = []
        while self.take("]") is None:
            if items:
                self.expect(",")
                if self.take("]") is not None:
                    break
            if self.take("?") is not None:
                optional.append(len(items))
            items.append(self.expression())
        return ListOf(opened.at, items, frozenset(optional))

    def map_of(self, opened: Token) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        while self.take("}") is None:
            if entries:
                self.expect(",")
                if self.take("}") is not None:
                    break
            optional = self.take("?") is not None
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression(), optional))
        return MapOf(opened.at, entries)

    def named(self) -> Node:
        self.take(".")
        token = self.expect("ident")
        if token.text in ("true", "false", "null"):
            return Const(token.at, {"true": True, "false": False, "null": None}[token.text])
        if token.text in RESERVED:
            raise CelSyntaxError(token.at, f"reserved identifier: {token.text}")
        opened = self.take("(")
        if opened is None:
            return Ident(token.at, token.text)
        args = self.arguments(")")
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
        raise self.mismatched(EXPECTED)

    def whole_number(self, first: Token, token: Token, sign: int) -> Node:
        number = sign * _number(token.text)
        if not -LARGEST_INT - 1 <= number <= LARGEST_INT:
            raise CelSyntaxError(first.at, "invalid int literal")
        return Const(first.at, number)
