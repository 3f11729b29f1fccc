"""Read the tokens of an expression, and continue after small mistakes as ANTLR does.

Source: upstream ``antlr4-go/antlr/v4/error_strategy.go``, ``cel-go/parser/gen/CEL.g4``.
"""

from __future__ import annotations

from scheduler_engine.api.cel.lexing import CelSyntaxError, Problem, Token, tokens

LITERALS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
EXPECTED = f"{{'[', '{{', '(', '.', '-', '!', {LITERALS}"
EXPECTED_IN_INDEX = f"{{'[', '{{', '(', '.', '-', '!', '?', {LITERALS}"
EXPECTED_INSIDE = {
    ")": f"{{'[', '{{', '(', ')', '.', '-', '!', {LITERALS}",
    "]": f"{{'[', ']', '{{', '(', '.', ',', '-', '!', '?', {LITERALS}",
    "}": f"{{'[', '{{', '}}', '(', '.', ',', '-', '!', '?', {LITERALS}",
}
"""Closing bracket → what can follow its opening one."""
BEGINNINGS = frozenset(("[", "{", "(", ".", "-", "!", "ident", "int", "uint", "double", "string", "bytes"))
"""The kinds of tokens that an expression begins with."""


class Reader:
    """Reads tokens from left to right. ``problems``: those after which it could continue."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens, self.problems = tokens(text)
        self.index = 0
        self.open = 0

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
        if token is not None:
            return token
        wanted = "IDENTIFIER" if kind == "ident" else f"'{kind}'"
        if self.after.kind == kind:
            self.leave_out(wanted)
        elif kind in ")]" and self.next.kind == "end" and not self.open:
            self.problem(f"missing {wanted} at '<EOF>'")
            return self.next
        elif kind == ":" and self.next.kind in BEGINNINGS:
            self.problem(f"missing {wanted} at '{self.next.text}'")
            return self.next
        else:
            raise self.mismatched(wanted)
        return self.expect(kind)

    @property
    def after(self) -> Token:
        """Return the token after the next one."""
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)]

    def problem(self, message: str) -> None:
        self.problems.append(Problem(self.next.at, f"Syntax error: {message}"))

    def leave_out(self, wanted: str) -> None:
        """Go past a token without which the next one fits."""
        self.problem(f"extraneous input '{self.next.text}' expecting {wanted}")
        self.index += 1

    def mismatched(self, wanted: str) -> CelSyntaxError:
        return self.wrong(f"mismatched input '{self.next.text}' expecting {wanted}")

    def no_way(self, begun: Token) -> CelSyntaxError:
        """Return the error of a beginning that nothing can continue."""
        end = self.next.at + (len(self.next.text) if self.next.kind != "end" else 0)
        return self.wrong(f"no viable alternative at input '{self.text[begun.at : end].rstrip()}'")

    def wrong(self, message: str) -> CelSyntaxError:
        return CelSyntaxError(self.next.at, f"Syntax error: {message}")

    def begin(self, closing: str) -> None:
        """Check what follows an opening bracket."""
        allowed = BEGINNINGS | {closing} | (frozenset(",?") if closing != ")" else frozenset())
        if self.next.kind not in allowed:
            if self.after.kind not in allowed:
                raise self.mismatched(EXPECTED_INSIDE[closing])
            self.leave_out(EXPECTED_INSIDE[closing])
