"""Lists the mutants of Rust sources and writes sources with some of them behind a switch.

A mutant is a small change of one place: an operator, a condition, a statement, a literal, a result, an arm, a field. `find` lists
all mutants of a file, `render` writes the file with some of them compiled in: each asks `crate::mutant::on(number)`. Every line of
the file keeps its number. Needs the packages tree-sitter and tree-sitter-rust.
"""

import dataclasses
import re

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

BINARY = {
    "==": ["!="],
    "!=": ["=="],
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["/"],
    "|": ["&"],
    "&": ["|"],
}
COMPOUND = {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "*=": "+="}
METHODS = {"any": "all", "all": "any", "min": "max", "max": "min"}
# What a function of this type returns at once instead.
RESULTS = [
    (r"bool", ["true", "false"]),
    (r"Option<.*>", ["None"]),
    (r"Vec<.*>", ["Vec::new()"]),
    (r"[ui](8|16|32|64|128|size)", ["0", "1"]),
    (r"Result<\(\), .*>", ["Ok(())"]),
]
# Nothing inside these is mutated: not run, not an expression, or text of a macro, which this parser does not know.
SKIPPED = {
    "attribute_item", "inner_attribute_item", "const_item", "static_item", "macro_definition", "macro_invocation", "token_tree",
    "const_block", "enum_item", "struct_item", "use_declaration", "match_pattern", "type_arguments", "line_comment", "block_comment",
}  # fmt: skip
# Implementations that only print.
PRINTING = re.compile(r"(?:\w+::)*(Debug|Display|Error)")
EFFECTS = {"call_expression", "assignment_expression", "compound_assignment_expr", "try_expression"}
EXITS = {"return_expression", "continue_expression", "break_expression"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`parts` replace the bytes `start..end`: text, spans of the source, or NUMBER. `was` and `becomes` are for readers."""

    path: str
    line: int
    function: str
    kind: str
    start: int
    end: int
    parts: tuple
    was: str
    becomes: str

    def __str__(self):
        return f"{self.path}:{self.line} in {self.function}: {self.kind}: `{self.was}` -> `{self.becomes}`"


NUMBER = object()
ON = ("crate::mutant::on(", NUMBER, ")")


def find(path, source):
    """All mutants of a file, in the order of its text."""
    finder = Finder(path, source)
    finder.visit(PARSER.parse(source).root_node, "-")
    return finder.found


class Finder:
    """Walks the tree of a file and collects mutants."""

    def __init__(self, path, source):
        self.path = path
        self.source = source
        self.found = []

    def text(self, node):
        return " ".join(self.source[node.start_byte : node.end_byte].decode().split())

    def add(self, kind, node, function, parts, becomes, was=None, span=None):
        start, end = span or (node.start_byte, node.end_byte)
        line = node.start_point[0] + 1
        self.found.append(
            Mutant(self.path, line, function, kind, start, end, tuple(parts), (was or self.text(node))[:150], becomes[:150])
        )

    def choose(self, kind, node, function, new, becomes):
        """`node`, or the parts `new` if the mutant is on."""
        own = (node.start_byte, node.end_byte)
        self.add(kind, node, function, ("(if ", *ON, " {", *new, "} else {", own, "})"), becomes)

    def visit(self, node, function):
        if node.type in SKIPPED or self.is_const(node):
            return
        if node.type == "impl_item":
            trait = node.child_by_field_name("trait")
            if trait is not None and PRINTING.fullmatch(self.text(trait)):
                return
        if node.type == "function_item":
            function = self.text(node.child_by_field_name("name"))
            self.result(node, function)
        visit = getattr(self, node.type, None)
        if visit is not None:
            visit(node, function)
        for index, child in enumerate(node.children):
            is_type = node.field_name_for_child(index) in ("type", "return_type", "pattern", "length", "parameters")
            is_index = node.type == "field_expression" and child.type == "integer_literal"
            if not is_index and (not is_type or child.type == "match_pattern") and not self.is_test(child):
                if child.type == "match_pattern":
                    condition = child.child_by_field_name("condition")
                    if condition is not None:
                        self.visit(condition, function)
                else:
                    self.visit(child, function)

    def is_const(self, node):
        modifiers = [child for child in node.children if child.type == "function_modifiers"]
        return node.type == "function_item" and any("const" in self.text(child).split() for child in modifiers)

    def is_test(self, node):
        """Whether an attribute above this item says that it is for tests."""
        above = node.prev_sibling
        while above is not None and above.type in ("attribute_item", "line_comment"):
            if self.text(above) in ("#[cfg(test)]", "#[test]"):
                return True
            above = above.prev_sibling
        return False

    def result(self, node, function):
        body, kind = node.child_by_field_name("body"), node.child_by_field_name("return_type")
        written = "()" if kind is None else self.text(kind)
        results = [r for pattern, values in RESULTS if re.fullmatch(pattern, written) for r in values]
        if kind is None and body.named_children:
            results = [""]
        at = body.start_byte + 1
        for value in results:
            becomes = f"return {value}".strip()
            parts = (" if ", *ON, f" {{ {becomes}; }}")
            self.add("result", node, function, parts, becomes, f"the body, of type {written}", (at, at))

    def binary_expression(self, node, function):
        left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        kind = "logic" if operator.type in ("&&", "||") else "comparison" if operator.type[0] in "=!<>" else "arithmetic"
        for new in BINARY.get(operator.type, []):
            spans = ((left.start_byte, left.end_byte), f" {new} ", (right.start_byte, right.end_byte))
            self.choose(kind, node, function, spans, f"{self.text(left)} {new} {self.text(right)}")

    def compound_assignment_expr(self, node, function):
        left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        if (new := COMPOUND.get(operator.type)) is not None:
            spans = ((left.start_byte, left.end_byte), f" {new} ", (right.start_byte, right.end_byte))
            self.choose("arithmetic", node, function, spans, f"{self.text(left)} {new} {self.text(right)}")

    def unary_expression(self, node, function):
        if node.children[0].type == "!":
            operand = node.children[1]
            self.choose("negation", node, function, [(operand.start_byte, operand.end_byte)], self.text(operand))

    def if_expression(self, node, function):
        self.condition(node.child_by_field_name("condition"), function)

    def while_expression(self, node, function):
        self.condition(node.child_by_field_name("condition"), function)

    def condition(self, node, function):
        """Negates a condition without an operator of its own: the others have their mutants."""
        if node.type not in ("binary_expression", "unary_expression", "let_condition", "let_chain"):
            self.choose("negation", node, function, ("!(", (node.start_byte, node.end_byte), ")"), f"!({self.text(node)})")

    def let_chain(self, node, function):
        for child in node.named_children:
            if child.type != "let_condition":
                self.choose("logic", child, function, ["true"], "true")

    def expression_statement(self, node, function):
        inner, block = node.children[0], node.parent
        is_let_else = block.parent is not None and block.parent.type == "let_declaration"
        if node.children[-1].type != ";" or block.type != "block":
            return
        if inner.type in EFFECTS or (inner.type in EXITS and not is_let_else):
            self.leave_out(node, function)

    def leave_out(self, node, function):
        self.add("statement", node, function, ("if !", *ON, " {", (node.start_byte, node.end_byte), "}"), "")

    def match_expression(self, node, function):
        arms = [child for child in node.child_by_field_name("body").children if child.type == "match_arm"]
        patterns = [arm.child_by_field_name("pattern") for arm in arms]
        if arms and re.fullmatch(r"_|[a-z]\w*", self.text(patterns[-1])):
            for arm, pattern in zip(arms[:-1], patterns[:-1]):
                self.leave_arm(arm, pattern, function)
        parent = node.parent
        is_tail = parent.type == "block" and parent.parent.type == "function_item"
        is_unit = is_tail and parent.parent.child_by_field_name("return_type") is None
        for arm in arms:
            value = arm.child_by_field_name("value")
            if value.type in EFFECTS and (is_unit or parent.type == "expression_statement"):
                parts = ("{ if !", *ON, " { ", (value.start_byte, value.end_byte), "; } }")
                self.add("statement", value, function, parts, "")

    def leave_arm(self, arm, pattern, function):
        condition = pattern.child_by_field_name("condition")
        was = self.text(arm)
        if condition is None:
            at = (pattern.end_byte, pattern.end_byte)
            self.add("arm", arm, function, (" if !", *ON), "the last arm", was, at)
            return
        span = (condition.start_byte, condition.end_byte)
        self.add("arm", arm, function, ("!", *ON, " && (", span, ")"), "the last arm", was, span)
        self.choose("logic", condition, function, ["true"], "true")

    def call_expression(self, node, function):
        callee = node.child_by_field_name("function")
        name = callee.child_by_field_name("field") if callee.type == "field_expression" else None
        new = METHODS.get(self.text(name)) if name is not None else None
        if new is not None:
            spans = [(node.start_byte, name.start_byte), new, (name.end_byte, node.end_byte)]
            before = self.source[node.start_byte : name.start_byte].decode()
            after = self.source[name.end_byte : node.end_byte].decode()
            self.choose("method", node, function, spans, " ".join(f"{before}{new}{after}".split()))

    def integer_literal(self, node, function):
        value, suffix = re.fullmatch(r"((?:0[xb])?[0-9a-f_]+?)([ui](?:8|16|32|64|128|size))?", self.text(node)).groups()
        new = f"{int(value.replace('_', ''), 0) + 1}{suffix or ''}"
        self.choose("literal", node, function, [new], new)

    def struct_expression(self, node, function):
        fields = node.child_by_field_name("body").named_children
        base = [field for field in fields if field.type == "base_field_initializer"]
        if not base:
            return
        base = self.text(base[0].named_children[0])
        for field in fields:
            if field.type == "field_initializer":
                name, value = self.text(field.child_by_field_name("field")), field.child_by_field_name("value")
            elif field.type == "shorthand_field_initializer":
                name, value = self.text(field), field
            else:
                continue
            own, taken = (value.start_byte, value.end_byte), f"({base}).{name}"
            prefix = f"{name}: " if value is field else ""
            parts = (f"{prefix}(if ", *ON, f" {{{taken}}} else {{", own, "})")
            self.add("field", value, function, parts, taken, self.text(field))


def render(source, numbered):
    """The source with these mutants compiled in, `{number: mutant}`. Comments `/*<n*/` and `/*n>*/` enclose mutant n."""
    # An outer mutant comes before those that it contains; of mutants of one place the one with the higher number is outside.
    order = sorted(numbered.items(), key=lambda item: (item[1].start, -item[1].end, -item[0]))
    return _render(source, 0, len(source), order).decode()


def _render(source, start, end, order):
    out, at = [], start
    for index, (number, mutant) in enumerate(order):
        if not at <= mutant.start <= mutant.end <= end:
            continue
        out.append(source[at : mutant.start])
        out.append(f"/*<{number}*/".encode())
        for part in mutant.parts:
            if part is NUMBER:
                out.append(str(number).encode())
            elif isinstance(part, str):
                out.append(part.encode())
            else:
                out.append(_render(source, *part, order[index + 1 :]))
        out.append(f"/*{number}>*/".encode())
        at = mutant.end
    out.append(source[at:end])
    return b"".join(out)


def enclosing(rendered, offset):
    """The number of the innermost mutant around a byte of a rendered file, or None."""
    stack = []
    for mark in re.finditer(rb"/\*(?:<(\d+)|(\d+)>)\*/", rendered.encode()):
        if mark.start() > offset:
            break
        if mark.group(1) is not None:
            stack.append(int(mark.group(1)))
        else:
            stack.pop()
    return stack[-1] if stack else None
