//! Printing values of known shape. Recursive shapes, and those of many choices, print through functions of their own,
//! made on demand, whose last call is a tail call along the spine of a list.

use super::Specializer;
use super::emit::{Emitted, Emitter, Parts, Val, target};
use super::helper::Helper;
use crate::core::number;
use crate::shape::lattice::{Class, Head};
use crate::specialize::operators::vector::Elements;
use crate::ssa::ir::{Form, Op, Stream, Terminator, Type};

/// Whether a value is printed by itself or as what follows an element of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Position {
    /// By itself.
    Element,
    /// After an element: `)`, ` 2)`, ` . 3)`.
    Tail,
    /// So many fields of a record, two at least: ` 2 3)`.
    Fields(usize),
}

/// Writes a value as `write` does: texts in quotes.
pub fn write(this: &mut Specializer<'_>, e: &mut Emitter, value: &Val, stream: Stream) {
    print(this, e, value, Position::Element, stream)
}

/// Writes a value as `write-string` does: texts as they are.
pub fn display(this: &mut Specializer<'_>, e: &mut Emitter, value: &Val, stream: Stream) {
    match this.flow.shapes.single(value.shape).map(|a| a.head) {
        Some(Head::Text(Some(number))) => {
            let text = this.flow.texts[number as usize].clone();
            this.write_text(e, stream, &text);
        }
        Some(Head::Text(None)) => {
            e.inst(Op::WriteTextOf(stream, Form::Plain), &value.leaves, &[]);
        }
        None if this.tag_of(value.shape, Class::Text).is_some() => {
            let nil = this.flow.shapes.nil();
            let _: Emitted<Val> = this.dispatch(e, value, nil, |this, e, parts| {
                let value = this.single(e, parts);
                display(this, e, &value, stream);
                Some(Val { shape: nil, leaves: Vec::new() })
            });
        }
        _ => write(this, e, value, stream),
    }
}

fn print(this: &mut Specializer<'_>, e: &mut Emitter, value: &Val, position: Position, stream: Stream) {
    // A folded zero unfolds to parts that hold folded zeros again: its printer must be able to call itself. And where
    // choices are in choices, code in place would multiply at every level.
    let folded = this.tag_of(value.shape, Class::ZeroOf).is_some();
    if folded || this.is_large(value.shape) {
        let helper = this.helper(Helper::Write(value.shape, position, stream));
        e.call(helper, &value.leaves, &[]);
        return;
    }
    print_unfolded(this, e, value, position, stream)
}

/// Prints alternative by alternative.
pub fn print_unfolded(this: &mut Specializer<'_>, e: &mut Emitter, value: &Val, position: Position, stream: Stream) {
    if [Class::ZeroOf, Class::OneHot].iter().any(|class| this.tag_of(value.shape, *class).is_some()) {
        if let Some(unfolded) = this.dense(e, value) {
            print(this, e, &unfolded, position, stream);
        }
        return;
    }
    let nil = this.flow.shapes.nil();
    this.dispatch(e, value, nil, |this, e, parts| {
        print_alternative(this, e, parts, position, stream);
        Some(Val { shape: nil, leaves: Vec::new() })
    });
}

fn print_alternative(this: &mut Specializer<'_>, e: &mut Emitter, parts: Parts, position: Position, stream: Stream) {
    let tail = position == Position::Tail;
    match parts.alternative.head {
        Head::Pair(_) if let Position::Fields(count) = position => {
            this.write_text(e, stream, " ");
            return print_fields(this, e, &parts.children, count, stream);
        }
        Head::Pair(_) => {
            this.write_text(e, stream, if tail { " " } else { "(" });
            print(this, e, &parts.children[0], Position::Element, stream);
            return print(this, e, &parts.children[1], Position::Tail, stream);
        }
        Head::Series => return print(this, e, &parts.children[0], position, stream),
        Head::Nil => {
            this.write_text(e, stream, if tail { ")" } else { "()" });
            return;
        }
        _ => {}
    }
    if tail {
        this.write_text(e, stream, " . ");
    }
    match parts.alternative.head {
        Head::Bool(Some(known)) => this.write_text(e, stream, boolean(known)),
        Head::Bool(None) => {
            let condition = parts.own.expect("an unknown boolean has a leaf");
            let blocks = [e.new_block(&[]), e.new_block(&[])];
            let join = e.new_block(&[]);
            e.terminate(Terminator::Branch(condition, target(blocks[0]), target(blocks[1])));
            for (block, known) in blocks.into_iter().zip([true, false]) {
                e.switch_to(block);
                this.write_text(e, stream, boolean(known));
                e.jump(join, Vec::new());
            }
            e.switch_to(join);
        }
        Head::Text(Some(number)) => {
            let text = quoted(&this.flow.texts[number as usize]);
            this.write_text(e, stream, &text);
        }
        Head::Text(None) => {
            let number = parts.own.expect("an unknown text has a leaf");
            e.inst(Op::WriteTextOf(stream, Form::Quoted), &[number], &[]);
        }
        Head::Real(_) => {
            let number = this.number(e, parts.alternative.head, parts.own);
            e.inst(Op::WriteReal(stream), &[number], &[]);
        }
        Head::Reverse => {
            this.write_text(e, stream, "(reverse ");
            print(this, e, &parts.children[0], Position::Element, stream);
            this.write_text(e, stream, ")");
        }
        Head::Bundle => {
            this.write_text(e, stream, "(forward ");
            print(this, e, &parts.children[0], Position::Element, stream);
            this.write_text(e, stream, " ");
            print(this, e, &parts.children[1], Position::Element, stream);
            this.write_text(e, stream, ")");
        }
        Head::Closure(code, _) => {
            let text = format!("#[procedure {}]", this.core.printed_name(code.lambda));
            this.write_text(e, stream, &text);
        }
        Head::Vector => {
            this.write_text(e, stream, "#(");
            let vector = Elements::of(&parts);
            this.for_each_place(e, vector.length, &[], |this, e, place, _| {
                let first = e.value(Op::IntIs(0), &[place], Type::Bool);
                let (between, element) = (e.new_block(&[]), e.new_block(&[]));
                e.terminate(Terminator::Branch(first, target(element), target(between)));
                e.switch_to(between);
                this.write_text(e, stream, " ");
                e.jump(element, Vec::new());
                e.switch_to(element);
                let value = this.element(e, &vector, place);
                print(this, e, &value, Position::Element, stream);
                Some(Vec::new())
            });
            this.write_text(e, stream, ")");
        }
        Head::Record(kind) => {
            let record = &this.core.records[kind];
            let (count, name) = (record.fields.len(), record.name.clone());
            this.write_text(e, stream, &format!("({name}{}", if count > 0 { " " } else { "" }));
            print_fields(this, e, &parts.children, count, stream);
        }
        Head::Pair(_)
        | Head::Nil
        | Head::Nothing
        | Head::Series
        | Head::ZeroOf(_)
        | Head::OneHot(_)
        | Head::Beginning => {}
    }
    if tail {
        this.write_text(e, stream, ")");
    }
}

/// Prints so many fields of a record, which are in these two parts, and the end. In front of the first there is space.
fn print_fields(this: &mut Specializer<'_>, e: &mut Emitter, parts: &[Val], count: usize, stream: Stream) {
    for (part, left) in parts.iter().zip((1..=count).rev()) {
        if left > 1 && left < count {
            return print(this, e, part, Position::Fields(left), stream);
        }
        if left < count {
            this.write_text(e, stream, " ");
        }
        print(this, e, part, Position::Element, stream);
    }
    this.write_text(e, stream, ")");
}

fn boolean(known: bool) -> &'static str {
    if known { "#t" } else { "#f" }
}

/// A text as `write` shows it.
fn quoted(text: &str) -> String {
    let mut quoted = Vec::new();
    number::quoted(text.as_bytes(), |piece| quoted.extend_from_slice(piece));
    String::from_utf8(quoted).expect("escapes are ASCII")
}
