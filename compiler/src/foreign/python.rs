//! The Python module of a library and its type stubs.
//!
//! ```python
//! _functions["loss"] = Function("loss", "loss", [("w", "vector"), ("b", "real")], "real", None, None, """...""")
//! ```
//!
//! Everything that modules have in common is `module.py` beside this file, and `adapters.py`, which hands functions to
//! SciPy, PyTorch and JAX; what differs is the list of functions. The module
//! calls the shared library through `ctypes`, in the order of parameters that [`super::header`] shows.

use super::Interface;
use super::header::ABI_VERSION;
use crate::core::interface::{Function, Record, Signature, Type, identifier, type_name};
use std::rc::Rc;

const MODULE: &str = concat!(include_str!("module.py"), "\n\n", include_str!("adapters.py"));

/// The text of the module.
pub fn module(interface: &Interface) -> String {
    let names: Vec<String> =
        interface.functions.iter().filter_map(|(function, _)| identifier(&function.name)).collect();
    let records = interface.records();
    let classes: Vec<String> = records.iter().map(|record| class(record)).collect();
    let all = names.iter().chain(&classes).map(String::as_str).chain(["Error", "bounds"]);
    let all: Vec<String> = all.map(|name| format!("\"{name}\"")).collect();
    let mut text = format!(
        "\"\"\"The library {}, compiled from VLAD. This file is generated.\n\nFunctions take numbers, NumPy arrays, and tuples \
         and records of these, and raise `Error`.\n\"\"\"\n\n",
        interface.name
    );
    text += &MODULE
        .replace("@ALL@", &format!("[{}]", all.join(", ")))
        .replace("@ABI@", &ABI_VERSION.to_string())
        .replace("@name@", &interface.name);
    for record in &records {
        text += &format!("\n\n{}", dataclass(record, "_dataclasses.dataclass", annotation));
        let ty = Type::Record(record.clone());
        let kinds: Vec<String> =
            ty.parts().into_iter().map(|(field, ty)| format!("\"{field}\": {}", kind(ty))).collect();
        text += &format!("\n    _kinds = {{{}}}\n", kinds.join(", "));
    }
    if !classes.is_empty() {
        text += &format!("\n\n_records += [{}]\n", classes.join(", "));
    }
    for ((function, about), name) in interface.functions.iter().zip(&names) {
        let parameters = function.parameters.iter().map(|parameter| {
            format!("(\"{}\", {})", identifier(&parameter.name).unwrap_or_default(), kind(&parameter.ty))
        });
        let parameters: Vec<String> = parameters.collect();
        let result = function.result.as_ref().map(kind).unwrap_or_default();
        let gradient = match &function.gradient {
            Some(positions) => format!("{positions:?}"),
            None => "None".to_string(),
        };
        let at = function.derivative_at.map_or("None".to_string(), |at| at.to_string());
        text += &format!(
            "\n\n_functions[\"{name}\"] = Function(\n    \"{name}\",\n    \"{}\",\n    [{}],\n    {result},\n    {gradient},\n    {at},\n    {},\n)\n",
            function.symbol(),
            parameters.join(", "),
            quoted(&documentation(function, about))
        );
    }
    text
}

/// The name of the class for a kind of records.
fn class(record: &Record) -> String {
    type_name(&record.name).unwrap_or_default()
}

/// The class for a kind of records, with annotations of fields as wanted.
fn dataclass(record: &Rc<Record>, decorator: &str, annotation: impl Fn(&Type) -> String) -> String {
    let ty = Type::Record(record.clone());
    let fields: String =
        ty.parts().into_iter().map(|(field, ty)| format!("    {field}: {}\n", annotation(ty))).collect();
    // Arrays are not equal or different, but element by element.
    let has_arrays = ty.leaves().iter().any(|(_, ty)| ty.is_array());
    let options = if has_arrays { "(eq=False)" } else { "" };
    let about = quoted(&format!("The record {}.", record.name));
    format!("@{decorator}{options}\nclass {}:\n    {about}\n\n{fields}", class(record))
}

/// The text of the stubs.
pub fn stubs(interface: &Interface) -> String {
    let mut text = STUBS.to_string();
    for record in interface.records() {
        text += &format!("\n{}", dataclass(&record, "_dataclass", returned));
    }
    for (function, about) in &interface.functions {
        let name = identifier(&function.name).unwrap_or_default();
        let class = format!("_{name}");
        let mut parameters: Vec<String> = Vec::new();
        for parameter in &function.parameters {
            parameters.push(format!(
                "{}: {}",
                identifier(&parameter.name).unwrap_or_default(),
                argument(&parameter.ty)
            ));
        }
        let result = match &function.gradient {
            None => function.result.as_ref().map(returned).unwrap_or_default(),
            Some(positions) => {
                let parts: Vec<String> = positions.iter().map(|at| returned(&function.parameters[*at].ty)).collect();
                parameters.push("*, out: _Any = ..., accumulate: _builtins.bool = ...".to_string());
                let gradient =
                    if parts.len() == 1 { parts[0].clone() } else { format!("_Tuple[{}]", parts.join(", ")) };
                format!("_Tuple[_builtins.float, {gradient}]")
            }
        };
        let parameters: String = parameters.iter().map(|parameter| format!(", {parameter}")).collect();
        let about = quoted(&documentation(function, about));
        text += &format!(
            "\nclass {class}(Function):\n    {about}\n    def __call__(self{parameters}) -> {result}: ...\n\n{name}: {class}\n"
        );
    }
    text
}

fn documentation(function: &Function, about: &str) -> String {
    let mut text = match (&function.gradient, about) {
        (None, "") => format!("The function {}.", function.name),
        (None, about) => about.to_string(),
        (Some(_), about) => {
            let of = function.differentiated();
            format!("The value and the gradient of {of}. {about}").trim_end().to_string()
        }
    };
    text += "\n";
    for parameter in &function.parameters {
        text += &format!("\n{}: {}", identifier(&parameter.name).unwrap_or_default(), in_words(&parameter.ty));
    }
    if let Some(positions) = &function.gradient {
        let names: Vec<String> = positions.iter().filter_map(|at| identifier(&function.parameters[*at].name)).collect();
        text += &format!(
            "\n\nReturns the value and the gradient with respect to {}. Arrays in `out` get the gradient\ninstead of new \
             ones; with `accumulate=True` it is added to what they hold.",
            names.join(", ")
        );
    } else if let Some(result) = &function.result {
        text += &format!("\n\nReturns {}.", in_words(result));
    }
    text
}

fn in_words(ty: &Type) -> String {
    match ty {
        Type::Real => "a number".to_string(),
        Type::Integer => "a whole number".to_string(),
        Type::Boolean => "True or False".to_string(),
        Type::Text => "a text".to_string(),
        Type::Record(record) => format!("a record {}", class(record)),
        Type::Vector => "a vector".to_string(),
        Type::Matrix => "a matrix".to_string(),
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(in_words).collect();
            format!("a tuple of {}", parts.join(", "))
        }
        Type::Function(signature) => {
            let arguments: Vec<String> = signature.arguments.iter().map(in_words).collect();
            format!("a function of {} that returns {}", arguments.join(", "), in_words(&signature.result))
        }
    }
}

/// A list of what stands for the arguments of a function of the caller, and what stands for its result.
fn parts(signature: &Signature, of: fn(&Type) -> String) -> (String, String) {
    let arguments: Vec<String> = signature.arguments.iter().map(of).collect();
    (arguments.join(", "), of(&signature.result))
}

fn kind(ty: &Type) -> String {
    match ty {
        Type::Real => "\"real\"".to_string(),
        Type::Integer => "\"integer\"".to_string(),
        Type::Boolean => "\"boolean\"".to_string(),
        Type::Text => "\"text\"".to_string(),
        Type::Record(record) => class(record),
        Type::Vector => "\"vector\"".to_string(),
        Type::Matrix => "\"matrix\"".to_string(),
        Type::Tuple(parts) => format!("({},)", parts.iter().map(kind).collect::<Vec<_>>().join(", ")),
        Type::Function(signature) => {
            let (arguments, result) = parts(signature, kind);
            format!("_Callback([{arguments}], {result})")
        }
    }
}

fn argument(ty: &Type) -> String {
    match ty {
        Type::Real => "_SupportsFloat".to_string(),
        Type::Integer => "_SupportsIndex".to_string(),
        Type::Boolean => "_builtins.bool".to_string(),
        Type::Text => "_builtins.str".to_string(),
        Type::Record(record) => class(record),
        Type::Vector | Type::Matrix => "_ArrayLike".to_string(),
        Type::Tuple(parts) => format!("_Tuple[{}]", parts.iter().map(argument).collect::<Vec<_>>().join(", ")),
        Type::Function(signature) => {
            // The value, or the value and its derivative; or a function for each of these.
            let (arguments, _) = parts(signature, returned);
            let function = format!("_Callable[[{arguments}], _Any]");
            format!("_Union[{function}, _Tuple[{function}, {function}]]")
        }
    }
}

fn returned(ty: &Type) -> String {
    match ty {
        Type::Real => "_builtins.float".to_string(),
        Type::Integer => "_builtins.int".to_string(),
        Type::Boolean => "_builtins.bool".to_string(),
        Type::Text => "_builtins.str".to_string(),
        Type::Record(record) => class(record),
        Type::Vector | Type::Matrix => "_NDArray[_float64]".to_string(),
        Type::Tuple(parts) => format!("_Tuple[{}]", parts.iter().map(returned).collect::<Vec<_>>().join(", ")),
        Type::Function(_) => "_Any".to_string(),
    }
}

/// What a field of a record is annotated with in the module.
fn annotation(ty: &Type) -> String {
    match ty {
        Type::Real => "float".to_string(),
        Type::Integer => "int".to_string(),
        Type::Boolean => "bool".to_string(),
        Type::Text => "str".to_string(),
        Type::Vector | Type::Matrix => "_numpy.ndarray".to_string(),
        Type::Tuple(_) => "tuple".to_string(),
        Type::Function(_) => "object".to_string(),
        Type::Record(record) => class(record),
    }
}

/// A text as Python writes it.
fn quoted(text: &str) -> String {
    format!("\"\"\"{}\"\"\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

const STUBS: &str = r#"# Generated together with the module beside it.
import builtins as _builtins
from dataclasses import dataclass as _dataclass
from typing import Any as _Any, Callable as _Callable, Iterable as _Iterable, List as _List
from typing import SupportsFloat as _SupportsFloat, SupportsIndex as _SupportsIndex, Tuple as _Tuple, Union as _Union

from numpy import float64 as _float64
from numpy.typing import ArrayLike as _ArrayLike, NDArray as _NDArray

class Error(Exception):
    code: _builtins.int
    message: _builtins.str

def bounds(count: _builtins.int, shards: _builtins.int, shard: _builtins.int) -> _Tuple[_builtins.int, _builtins.int]: ...

class Function:
    def map(self, executor: _Any, calls: _Iterable[_Tuple[_Any, ...]]) -> _List[_Any]: ...
    def sum(
        self,
        shards: _builtins.int,
        arguments: _Callable[[_builtins.int], _Tuple[_Any, ...]],
        comm: _Any = ...,
        executor: _Any = ...,
    ) -> _Any: ...
    def scipy(self, *arguments: _Any, **named: _Any) -> _Any: ...
    @property
    def torch(self) -> _Callable[..., _Any]: ...
    @property
    def jax(self) -> _Callable[..., _Any]: ...
"#;
