#!/usr/bin/env python3
"""Tests of mutate.py: which mutants a source has, and what the source looks like with them."""

import unittest

import mutate


def changes(source):
    return [(mutant.kind, mutant.was, mutant.becomes) for mutant in mutate.find("a.rs", source.encode())]


def in_function(body, head="fn f() -> String"):
    return changes(f"{head} {{ {body} }}")


class Find(unittest.TestCase):
    def test_operators(self):
        self.assertEqual(in_function("a == b"), [("comparison", "a == b", "a != b")])
        bounds = [("comparison", "a < b", "a <= b"), ("comparison", "a < b", "a >= b")]
        self.assertEqual(in_function("a < b"), bounds)
        self.assertEqual(in_function("a && !b"), [("logic", "a && !b", "a || !b"), ("negation", "!b", "b")])
        self.assertEqual(in_function("v.iter().any(f)"), [("method", "v.iter().any(f)", "v.iter().all(f)")])
        self.assertEqual(
            in_function("x += y;"), [("statement", "x += y;", ""), ("arithmetic", "x += y", "x -= y")]
        )

    def test_conditions(self):
        self.assertEqual(in_function("if a() {}"), [("negation", "a()", "!(a())")])
        self.assertEqual(in_function("if let A = b && c() {}"), [("logic", "c()", "true")])

    def test_statements(self):
        self.assertEqual(in_function("a.b(c);"), [("statement", "a.b(c);", "")])
        self.assertEqual(in_function("if !a { return; }"), [("negation", "!a", "a"), ("statement", "return;", "")])
        # An `else` of a `let` must leave the block.
        self.assertEqual(in_function("let Some(a) = b else { return };"), [])
        self.assertEqual(in_function("match a { A => f(), B => {} };"), [("statement", "f()", "")])
        self.assertEqual(in_function("match a { A => f(), B => {} }", "fn f()")[1:], [("statement", "f()", "")])

    def test_results(self):
        self.assertEqual([new for _, _, new in in_function("a", "fn f() -> bool")], ["return true", "return false"])
        self.assertEqual([new for _, _, new in in_function("a", "fn f() -> Option<u32>")], ["return None"])
        self.assertEqual([new for _, _, new in in_function("a", "fn f() -> Vec<u32>")], ["return Vec::new()"])
        self.assertEqual(in_function("", "fn f()"), [])

    def test_literals(self):
        self.assertEqual(in_function("a(7_u8)"), [("literal", "7_u8", "8u8")])
        self.assertEqual(in_function("a.0"), [])

    def test_arms_and_fields(self):
        found = in_function("match a { A => x, _ => y }")
        self.assertEqual(found, [("arm", "A => x,", "the last arm")])
        self.assertEqual(in_function("match a { A => x, B => y }"), [])
        self.assertEqual(in_function("S { a: x, ..b }"), [("field", "a: x", "(b).a")])

    def test_what_is_not_mutated(self):
        for source in [
            "const A: u32 = 1;",
            "const fn f() -> bool { a < b }",
            "#[cfg(test)] mod tests { fn f() -> bool { a < b } }",
            "impl fmt::Display for A { fn f() -> bool { a < b } }",
            "enum A { B = 1 }",
        ]:
            self.assertEqual(changes(source), [], source)
        self.assertEqual(in_function("match a { 1 => x, 2..=3 => y }"), [])
        self.assertEqual(in_function("assert!(a < b);"), [])
        self.assertEqual(in_function("[a; 4]"), [])


class Render(unittest.TestCase):
    def render(self, source):
        mutants = mutate.find("a.rs", source.encode())
        return mutate.render(source.encode(), dict(enumerate(mutants, 1)))

    def test_a_mutant_inside_another(self):
        self.assertEqual(
            self.render("fn f() -> S { a == 1 }"),
            "fn f() -> S { /*<1*/(if crate::mutant::on(1) {a != /*<2*/(if crate::mutant::on(2) {2} else {1})/*2>*/} else {"
            "a == /*<2*/(if crate::mutant::on(2) {2} else {1})/*2>*/})/*1>*/ }",
        )

    def test_several_mutants_of_one_place(self):
        rendered = self.render("fn f() -> S { a < b }")
        self.assertIn("on(2) {a >= b} else {/*<1*/(if crate::mutant::on(1) {a <= b} else {a < b})/*1>*/}", rendered)

    def test_results_and_arms(self):
        self.assertIn("{/*<1*/ if crate::mutant::on(1) { return None; }/*1>*/ a }", self.render("fn f() -> Option<u8> { a }"))
        rendered = self.render("fn f() -> S { match a { A if b => x, _ => y } }")
        self.assertIn("A if /*<2*/(if crate::mutant::on(2) {true} else {/*<1*/!crate::mutant::on(1) && (b)/*1>*/})/*2>*/ =>", rendered)

    def test_the_mutant_around_an_error(self):
        rendered = self.render("fn f() -> S { a == 1 }")
        self.assertEqual(mutate.enclosing(rendered, rendered.index("{2}")), 2)
        self.assertEqual(mutate.enclosing(rendered, rendered.index("a !=")), 1)
        self.assertIsNone(mutate.enclosing(rendered, 3))


if __name__ == "__main__":
    unittest.main()
