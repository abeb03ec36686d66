//! The primitives of the core language: one table for every stage.
//!
//! A saturated call of a primitive is a right-hand side of its own ([`crate::core::ir::Rhs::Prim`]). A primitive used
//! as a value is an ordinary global function whose body is such a call, so no later stage knows primitive values.

use crate::core::reader::Item;
use std::fmt;

/// A primitive operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prim {
    // Reals, one operand.
    Neg,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Log1p,
    Expm1,
    /// `(%erf x)`: the error function. The derivatives of this and the next three are given by the library.
    Erf,
    Erfc,
    /// `(%gamma x)`: the gamma function.
    Gamma,
    /// `(%log-gamma x)`: the logarithm of its modulus.
    LogGamma,
    Abs,
    Floor,
    Ceiling,
    Round,
    Truncate,
    /// `(sign x)`: -1, 0 or 1 (not a number stays so); the derivative of `abs`.
    Sign,
    /// The identity on reals; the analysis forgets the value.
    Real,
    // Reals, two operands.
    Add,
    Sub,
    Mul,
    Div,
    Atan2,
    Expt,
    /// `(scale d s)`: the sensitivity `s` times the partial derivative `d`; a symbolic zero when either is one.
    Scale,
    /// `(unscale s d)`: the sensitivity `s` divided by `d`; a symbolic zero stays one.
    Unscale,
    // Comparisons.
    Eq,
    Lt,
    Gt,
    Le,
    Ge,
    IsSameString,
    // Tests.
    IsNull,
    IsPair,
    IsReal,
    IsBoolean,
    IsString,
    IsVector,
    IsProcedure,
    IsForward,
    IsReverse,
    /// True for numbers that `%series` made.
    IsSeries,
    /// `(%zero? x)`: true for symbolic zeros, and for pairs and vectors that `zero` made.
    IsZero,
    /// `(%transformed? x)`: whether the code that asks has been transformed for a derivative; whatever `x` is.
    IsTransformed,
    /// `(%record? x)`: whether that is a record, of any kind.
    IsRecord,
    /// `(%of-kind? x r)`: whether that is a record of the kind of the record `r`.
    IsOfKind,
    // Pairs.
    Cons,
    Car,
    Cdr,
    // Records, which are pairs of another name.
    /// `(%record r p)`: the record of the kind of the record `r` that is made of the pair `p`.
    Record,
    /// `(%record-parts r)`: the pair that a record is made of.
    RecordParts,
    // Vectors.
    /// `(%new-vector n)`: the beginning of a vector that will have `n` elements.
    NewVector,
    /// `(%fill b x)`: the beginning `b` of a vector with `x` as one more element.
    Fill,
    /// `(%finish b)`: the vector of which `b` is all.
    Finish,
    /// `(%filled b)`: the number of elements so far.
    Filled,
    VectorLength,
    VectorRef,
    /// `(%with-element v i x)`: the vector `v` with `x` as its element `i`.
    WithElement,
    // Derivative operators.
    Zero,
    Plus,
    J,
    JInverse,
    /// `(bundle x t)`: the value `x` with the tangent `t`.
    Bundle,
    /// What a bundle is a bundle of.
    Primal,
    /// The tangent in a bundle.
    Tangent,
    /// `(j* x)`: `x` with the zero tangent.
    JStar,
    /// `(in-car p s)`: the sensitivity of the pair `p` that has `s` in its first part and is zero in the other.
    InCar,
    /// `(in-cdr p s)`: the same with the parts exchanged.
    InCdr,
    /// `(handed s)`: the vectors in a sum of sensitivities, for a backpropagator to add to; the rest is [nothing].
    ///
    /// [nothing]: crate::core::ir::Const::Nothing
    Handed,
    /// `(handed-few s)`: the same where no recursive call has the sum again: a few places that the environment of a
    /// closure has stay as they are, which become a vector in `handed`.
    HandedFew,
    /// `(kept s)`: what `handed` leaves of a sum, with nothing in the place of the vectors.
    Kept,
    /// `(lent s)`: the sums `s` that a backpropagator is handed. They get no sensitivity from it: the sum that they
    /// become has it.
    Lent,
    /// `(sum-car s)`: the first part of a sum; of nothing, nothing.
    SumCar,
    /// `(sum-cdr s)`: the second part of a sum; of nothing, nothing.
    SumCdr,
    /// `(split-car s)`: the same as `sum-car` of a sum that is not handed over: it gets the sensitivity of its part.
    SplitCar,
    /// `(split-cdr s)`: the same of the second part.
    SplitCdr,
    /// `(adding b)`: the backpropagator that takes a pair of a sensitivity and sums, and returns the sums with what `b`
    /// returns for the sensitivity added. Of the sensitivity of `b`, that of `(adding b)`.
    Adding,
    /// The inverse of `adding`.
    Plain,
    /// `(in-element v i s)`: the sensitivity of the vector `v` that has `s` in its element `i` and is zero elsewhere.
    InElement,
    /// `(take-element s i)`: the element `i` of a sum, if it has vectors that are handed on; else nothing.
    TakeElement,
    /// `(put-element s i e)`: the sum `s` after what was taken out of it has become the element `i` of `e`, which is
    /// zero elsewhere. If nothing was taken, that is added.
    PutElement,
    /// `(%series (cons x l))`: the power series with the constant term `x` and the further coefficients `l`.
    Series,
    /// The pair that a power series was made of.
    SeriesParts,
    /// `(%lift x)`: `x` with every number as a power series that has a constant term only.
    Lift,
    /// What `%lift` was applied to; of other power series, their constant terms.
    Unlift,
    /// `(%lift-directions x)`: `x` with every number as one that changes in [`DIRECTIONS`] directions, in none of them
    /// yet.
    LiftDirections,
    /// What `%lift-directions` was applied to; of other numbers that change in some directions, the numbers.
    UnliftDirections,
    /// `(%environment f)`: the list of the values that the function `f` has captured.
    Environment,
    /// `(%with-environment f l)`: the function of the code of `f` that has captured the values in the list `l`.
    WithEnvironment,
    // `(%kernel-... sizes vectors)`: see [`Prim::kernel`].
    KernelProduct,
    KernelCholesky,
    KernelTriangular,
    KernelLu,
    KernelQr,
    KernelQrMultiply,
    KernelSymmetricEigen,
    KernelSingularValues,
    KernelTranspose,
    KernelFourier,
    KernelOrder,
    KernelRandom,
    KernelDot,
    KernelPart,
    KernelJoined,
    // Input, output, failure.
    ReadReal,
    /// `(%read-vector)`: the length of a vector in the input; [`Prim::ReadReal`] gives its elements next.
    ReadVector,
    /// `(%read-matrix)`: the number of rows of a matrix in the input; [`Prim::ReadReal`] gives the number of columns
    /// next, then the elements, row by row; or column by column where the number of columns is given as negative.
    ReadMatrix,
    /// `(%argument)`: the next number that the caller of a library passes.
    Argument,
    /// `(%argument-array)`: the length or number of rows of the array that the caller of a library passes next;
    ArgumentArray,
    /// `(%argument-elements n)`: its next n elements, as a vector.
    ArgumentElements,
    /// `(%result x)`: hands the caller of a library a number, returns it.
    Result,
    /// `(%result-array m n)`: begins an array of so many rows and columns for the caller of a library, returns `()`;
    ResultArray,
    /// `(%result-elements v)`: its next elements, a vector; returns `()`.
    ResultElements,
    WriteReal,
    /// `(%write-byte x)`: writes the byte of this value, returns `x`.
    WriteByte,
    /// `(%write-double x)`: writes the eight bytes of `x`, the lowest first, returns `x`.
    WriteDouble,
    /// `(%ask what x)`: asks the system that the program runs on, or tells it how far a search has come; a number. What
    /// can be asked is in [`crate::core::question`].
    Ask,
    /// `(%check-number f)`: the number of a function whose derivative is to be checked, -1 where nobody wants that.
    /// It is not whole for what the library has for itself.
    CheckNumber,
    /// `(%warn message value)`: writes a warning; `()`. The evaluator has warnings of its own.
    Warn,
    Write,
    WriteString,
    Newline,
    /// `(%begin-file name)`: what is written from now on goes to a file of that name; returns `()`.
    BeginFile,
    /// `(%end-file whole)`: the file is there if that is not 0, else forgotten; what is written goes to standard output
    /// again. Returns `()`.
    EndFile,
    /// `(%begin-text)`: what is written from now on belongs to a text; returns `()`. Texts nest.
    BeginText,
    /// `(%end-text)`: that text.
    EndText,
    /// `(%text-byte text i)`: the byte of a text at a place, -1 behind its end.
    TextByte,
    /// `(error message value carried)`: what was written as `(error message value)`. `carried` is the value that a
    /// handler gets, in a transformed function its transform.
    Error,
    /// `(%catch f handler x)`: `(f x)`, or, where that fails, the handler's value of the message and the value of the
    /// error.
    Catch,
    /// `(opaque x)`: `x`, about which the compiler forgets what it knows, in every execution anew.
    Opaque,
    /// `(%exchange x)`: `x`; where processes share the work, what another one has found in its place, or `x`, which is
    /// handed to another one.
    Exchange,
}

/// In how many directions at a time derivatives are taken.
pub const DIRECTIONS: usize = 4;

/// What kind of operation a primitive is; stages that treat a whole family alike match on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Reals to a real.
    Arithmetic,
    /// Two reals, or two strings, to a boolean.
    Comparison,
    /// Any value to a boolean, decided by its shape.
    Test,
    /// `cons`, `car`, `cdr`, `%record`, `%record-parts`.
    Structure,
    /// `%new-vector`, `%fill`, `%finish`, `%filled`, `vector-length`, `vector-ref`, `%with-element`.
    Vector,
    /// `zero`, `plus`, `*j`, `*j-inverse`, `bundle`, `primal`, `tangent`, `j*`, `in-car`, `in-cdr`, `in-element`,
    /// `take-element`, `give-element`, `take-given`, `put-element`, `leave-element`, `handed`, `kept`, `within`,
    /// `sum-car`, `sum-cdr`, `in-sum-car`, `in-sum-cdr`, `adding`, `plain`, `%series`, `%series-parts`, `%lift`,
    /// `%unlift`, `%lift-directions`, `%unlift-directions`, `%environment`, `%with-environment`.
    Derivative,
    /// A list of numbers, of which the first is the length of the result, and a list of vectors of numbers to a vector.
    /// These have no derivatives: the library gives those of the functions around them.
    Kernel,
    /// Reads, writes, fails or stays where it is.
    Effect,
}

use Family::{Arithmetic, Comparison, Derivative, Effect, Kernel, Structure, Test, Vector};

/// Every primitive with its name in the source, number of operands and family. `neg`, `sign`, `in-car`, `in-cdr`,
/// `in-element`, `take-element`, `put-element`, `handed`, `kept`, `sum-car`, `sum-cdr`, `split-car`, `split-cdr`,
/// `adding`, `plain`, `scale`, `unscale` and `opaque` cannot be written in a program; they stand in printed code only.
/// Names that start with `%` can be written in the library only.
pub const TABLE: &[(Prim, &str, usize, Family)] = &[
    (Prim::Neg, "neg", 1, Arithmetic),
    (Prim::Sqrt, "sqrt", 1, Arithmetic),
    (Prim::Exp, "exp", 1, Arithmetic),
    (Prim::Log, "log", 1, Arithmetic),
    (Prim::Sin, "sin", 1, Arithmetic),
    (Prim::Cos, "cos", 1, Arithmetic),
    (Prim::Tan, "tan", 1, Arithmetic),
    (Prim::Asin, "asin", 1, Arithmetic),
    (Prim::Acos, "acos", 1, Arithmetic),
    (Prim::Atan, "atan", 1, Arithmetic),
    (Prim::Sinh, "sinh", 1, Arithmetic),
    (Prim::Cosh, "cosh", 1, Arithmetic),
    (Prim::Tanh, "tanh", 1, Arithmetic),
    (Prim::Log1p, "log1p", 1, Arithmetic),
    (Prim::Expm1, "expm1", 1, Arithmetic),
    (Prim::Erf, "%erf", 1, Arithmetic),
    (Prim::Erfc, "%erfc", 1, Arithmetic),
    (Prim::Gamma, "%gamma", 1, Arithmetic),
    (Prim::LogGamma, "%log-gamma", 1, Arithmetic),
    (Prim::Abs, "abs", 1, Arithmetic),
    (Prim::Floor, "floor", 1, Arithmetic),
    (Prim::Ceiling, "ceiling", 1, Arithmetic),
    (Prim::Round, "round", 1, Arithmetic),
    (Prim::Truncate, "truncate", 1, Arithmetic),
    (Prim::Sign, "sign", 1, Arithmetic),
    (Prim::Real, "real", 1, Arithmetic),
    (Prim::Add, "+", 2, Arithmetic),
    (Prim::Sub, "-", 2, Arithmetic),
    (Prim::Mul, "*", 2, Arithmetic),
    (Prim::Div, "/", 2, Arithmetic),
    (Prim::Atan2, "atan", 2, Arithmetic),
    (Prim::Expt, "expt", 2, Arithmetic),
    (Prim::Scale, "scale", 2, Arithmetic),
    (Prim::Unscale, "unscale", 2, Arithmetic),
    (Prim::Eq, "=", 2, Comparison),
    (Prim::Lt, "<", 2, Comparison),
    (Prim::Gt, ">", 2, Comparison),
    (Prim::Le, "<=", 2, Comparison),
    (Prim::Ge, ">=", 2, Comparison),
    (Prim::IsSameString, "string=?", 2, Comparison),
    (Prim::IsNull, "null?", 1, Test),
    (Prim::IsPair, "pair?", 1, Test),
    (Prim::IsReal, "real?", 1, Test),
    (Prim::IsBoolean, "boolean?", 1, Test),
    (Prim::IsString, "string?", 1, Test),
    (Prim::IsVector, "vector?", 1, Test),
    (Prim::IsProcedure, "procedure?", 1, Test),
    (Prim::IsForward, "forward?", 1, Test),
    (Prim::IsReverse, "reverse?", 1, Test),
    (Prim::IsSeries, "%series?", 1, Test),
    (Prim::IsZero, "%zero?", 1, Test),
    (Prim::IsTransformed, "%transformed?", 1, Test),
    (Prim::IsRecord, "%record?", 1, Test),
    (Prim::IsOfKind, "%of-kind?", 2, Test),
    (Prim::Cons, "cons", 2, Structure),
    (Prim::Car, "car", 1, Structure),
    (Prim::Cdr, "cdr", 1, Structure),
    (Prim::Record, "%record", 2, Structure),
    (Prim::RecordParts, "%record-parts", 1, Structure),
    (Prim::NewVector, "%new-vector", 1, Vector),
    (Prim::Fill, "%fill", 2, Vector),
    (Prim::Finish, "%finish", 1, Vector),
    (Prim::Filled, "%filled", 1, Vector),
    (Prim::VectorLength, "vector-length", 1, Vector),
    (Prim::VectorRef, "vector-ref", 2, Vector),
    (Prim::WithElement, "%with-element", 3, Vector),
    (Prim::Zero, "zero", 1, Derivative),
    (Prim::Plus, "plus", 2, Derivative),
    (Prim::J, "*j", 1, Derivative),
    (Prim::JInverse, "*j-inverse", 1, Derivative),
    (Prim::Bundle, "bundle", 2, Derivative),
    (Prim::Primal, "primal", 1, Derivative),
    (Prim::Tangent, "tangent", 1, Derivative),
    (Prim::JStar, "j*", 1, Derivative),
    (Prim::InCar, "in-car", 2, Derivative),
    (Prim::InCdr, "in-cdr", 2, Derivative),
    (Prim::Handed, "handed", 1, Derivative),
    (Prim::HandedFew, "handed-few", 1, Derivative),
    (Prim::Kept, "kept", 1, Derivative),
    (Prim::Lent, "lent", 1, Derivative),
    (Prim::SumCar, "sum-car", 1, Derivative),
    (Prim::SumCdr, "sum-cdr", 1, Derivative),
    (Prim::SplitCar, "split-car", 1, Derivative),
    (Prim::SplitCdr, "split-cdr", 1, Derivative),
    (Prim::Adding, "adding", 1, Derivative),
    (Prim::Plain, "plain", 1, Derivative),
    (Prim::InElement, "in-element", 3, Derivative),
    (Prim::TakeElement, "take-element", 2, Derivative),
    (Prim::PutElement, "put-element", 3, Derivative),
    (Prim::Series, "%series", 1, Derivative),
    (Prim::SeriesParts, "%series-parts", 1, Derivative),
    (Prim::Lift, "%lift", 1, Derivative),
    (Prim::Unlift, "%unlift", 1, Derivative),
    (Prim::LiftDirections, "%lift-directions", 1, Derivative),
    (Prim::UnliftDirections, "%unlift-directions", 1, Derivative),
    (Prim::Environment, "%environment", 1, Derivative),
    (Prim::WithEnvironment, "%with-environment", 2, Derivative),
    (Prim::KernelProduct, "%kernel-product", 2, Kernel),
    (Prim::KernelCholesky, "%kernel-cholesky", 2, Kernel),
    (Prim::KernelTriangular, "%kernel-triangular", 2, Kernel),
    (Prim::KernelLu, "%kernel-lu", 2, Kernel),
    (Prim::KernelQr, "%kernel-qr", 2, Kernel),
    (Prim::KernelQrMultiply, "%kernel-qr-multiply", 2, Kernel),
    (Prim::KernelSymmetricEigen, "%kernel-symmetric-eigen", 2, Kernel),
    (Prim::KernelSingularValues, "%kernel-singular-values", 2, Kernel),
    (Prim::KernelTranspose, "%kernel-transpose", 2, Kernel),
    (Prim::KernelFourier, "%kernel-fourier", 2, Kernel),
    (Prim::KernelOrder, "%kernel-order", 2, Kernel),
    (Prim::KernelRandom, "%kernel-random", 2, Kernel),
    (Prim::KernelDot, "%kernel-dot", 2, Kernel),
    (Prim::KernelPart, "%kernel-part", 2, Kernel),
    (Prim::KernelJoined, "%kernel-joined", 2, Kernel),
    (Prim::ReadReal, "read-real", 0, Effect),
    (Prim::ReadVector, "%read-vector", 0, Effect),
    (Prim::ReadMatrix, "%read-matrix", 0, Effect),
    (Prim::Argument, "%argument", 0, Effect),
    (Prim::ArgumentArray, "%argument-array", 0, Effect),
    (Prim::ArgumentElements, "%argument-elements", 1, Effect),
    (Prim::Result, "%result", 1, Effect),
    (Prim::ResultArray, "%result-array", 2, Effect),
    (Prim::ResultElements, "%result-elements", 1, Effect),
    (Prim::WriteReal, "write-real", 1, Effect),
    (Prim::WriteByte, "%write-byte", 1, Effect),
    (Prim::WriteDouble, "%write-double", 1, Effect),
    (Prim::Ask, "%ask", 2, Effect),
    (Prim::CheckNumber, "%check-number", 1, Effect),
    (Prim::Warn, "%warn", 2, Effect),
    (Prim::Write, "write", 1, Effect),
    (Prim::WriteString, "write-string", 1, Effect),
    (Prim::Newline, "newline", 0, Effect),
    (Prim::BeginFile, "%begin-file", 1, Effect),
    (Prim::EndFile, "%end-file", 1, Effect),
    (Prim::BeginText, "%begin-text", 0, Effect),
    (Prim::EndText, "%end-text", 0, Effect),
    (Prim::TextByte, "%text-byte", 2, Effect),
    (Prim::Error, "error", 3, Effect),
    (Prim::Catch, "%catch", 3, Effect),
    (Prim::Opaque, "opaque", 1, Effect),
    (Prim::Exchange, "%exchange", 1, Effect),
];

impl Prim {
    fn row(self) -> &'static (Prim, &'static str, usize, Family) {
        &TABLE[self as usize]
    }
    /// The name in source programs and printed code.
    pub fn name(self) -> &'static str {
        self.row().1
    }
    /// Number of operands.
    pub fn arity(self) -> usize {
        self.row().2
    }
    /// The family that the operation belongs to.
    pub fn family(self) -> Family {
        self.row().3
    }
    /// The position of the operand that is a plain number, an index or a length, where others may be any values.
    pub fn number_operand(self) -> Option<usize> {
        match self {
            Prim::NewVector => Some(0),
            Prim::VectorRef | Prim::WithElement | Prim::InElement | Prim::TakeElement | Prim::PutElement => Some(1),
            _ => None,
        }
    }
    /// Whether the result is a number that tells how long something is.
    pub fn counts(self) -> bool {
        matches!(self, Prim::VectorLength | Prim::Filled)
    }
    /// What the primitive reads, if it does.
    pub fn item(self) -> Item {
        match self {
            Prim::ReadVector => Item::Vector,
            Prim::ReadMatrix => Item::Matrix,
            _ => Item::Real,
        }
    }
    /// The operation on whole arrays that this is.
    pub fn kernel(self) -> Option<vlad_kernels::Kernel> {
        let first = Prim::KernelProduct as usize;
        let position = (self as usize).checked_sub(first)?;
        vlad_kernels::TABLE.get(position).map(|row| row.0)
    }
    /// Whether the effect is that of a library on its caller.
    pub fn is_of_library(self) -> bool {
        use Prim::{Argument, ArgumentArray, ArgumentElements, Result, ResultArray, ResultElements};
        matches!(self, Argument | ArgumentArray | ArgumentElements | Result | ResultArray | ResultElements)
    }
    /// False when the call can be dropped if its result is unused and its operands fit.
    pub fn has_effect(self) -> bool {
        self.family() == Effect
    }
}

/// How deep `handed` looks for vectors in a sum: so those in an environment, in the environment of a function there,
/// and in a list of parameters are found, and neither long lists nor trees are walked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Levels {
    cars: u8,
    cdrs: u8,
    /// Whether this is within the environment of a closure, where sums of a few places may be handed on as they are.
    pub keeps_few: bool,
}

impl Levels {
    /// From the top of a sum.
    pub const ALL: Levels = Levels { cars: 2, cdrs: 8, keeps_few: false };

    /// What is left below the first (0) or second (1) part of a pair; `None` where that is not looked at.
    pub fn below(self, part: usize) -> Option<Levels> {
        match part {
            0 => Some(Levels { cars: self.cars.checked_sub(1)?, ..self }),
            _ => Some(Levels { cdrs: self.cdrs.checked_sub(1)?, ..self }),
        }
    }

    /// The same within an environment, if this is one.
    pub fn within(self, is_environment: bool) -> Levels {
        Levels { keeps_few: self.keeps_few || is_environment, ..self }
    }
}

impl fmt::Display for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_rows_stand_at_their_primitive() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index, "{}", row.1);
            let kernel = row.0.kernel().map(|kernel| format!("%kernel-{}", kernel.name()));
            assert_eq!(kernel.as_deref(), (row.3 == Family::Kernel).then_some(row.1));
        }
    }
}
