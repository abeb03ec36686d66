//! The order of passes.
//!
//! A row names a pass and says why it runs at this place.

/// A pass, and why it runs where it stands.
pub type Row = (&'static str, &'static str);

/// A part of the schedule.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// Each row once.
    Once(&'static [Row]),
    /// Each row once, in programs with so many instructions.
    Large(&'static [Row], usize),
    /// [`INLINE`] and [`SIMPLIFY`] in turns, at most so many times: code that is inlined is simplified, and what is
    /// simplified may be worth inlining. Then [`SIMPLIFY`] until it finds nothing.
    Inline(usize),
    /// These rows as long as they find something, at most so many times, and after each time as for
    /// [`Phase::Inline`], once.
    Repeat(&'static [Row], usize),
}

/// The whole schedule. Later rounds find little, and compile time and code size have to stay in proportion, so that the
/// numbers of rounds are small.
pub const SCHEDULE: &[Phase] = &[
    // Code that nobody needs tells the passes on tapes which loops belong together: small programs keep it for them.
    Phase::Large(
        &[(
            "dead-across-calls",
            "most of what a large program passes on is whole environments, of which it needs little",
        )],
        50_000,
    ),
    Phase::Once(&[
        ("simplify-cfg", "producers emit blocks freely; the passes that follow like few and long ones"),
        ("gvn", "sizes should tell what functions cost when inlining looks at them"),
        ("simplify-cfg", "decides the branches whose outcome gvn found"),
        ("dce", "gvn leaves what it replaced"),
        ("merge-functions", "copies that the specialiser made for nothing should be gone before sizes and calls count"),
    ]),
    Phase::Inline(4),
    Phase::Repeat(
        &[(
            "recompute-calls",
            "tapes within tapes are still made by calls, and functions and their arguments are as few as they get",
        )],
        3,
    ),
    // Tapes become loops, and lose what is the same in all of their boxes.
    Phase::Repeat(
        &[
            ("inductions", "loops are formed, and lengths of vectors are in sight"),
            ("dce", "checks of places that are in range no longer are ways out of loops"),
            (
                "tape-loops",
                "builders and readers have to be simple and alone with their sum, so as much as possible is inlined",
            ),
            ("licm", "what does not change in a loop that builds a tape should not look as if it did"),
            ("invariant-fields", "the loops that build and read a tape are in one function now, if they ever are"),
            ("list-lengths", "fields that nobody needs are gone, and chains have one end"),
        ],
        3,
    ),
    // Tapes become vectors, for each depth of loops.
    Phase::Repeat(
        &[
            ("drop-checks", "loops that read tapes have been told by what they hand on"),
            ("inductions", "the loops that read tapes count, too"),
            ("licm", "bounds of loops that do not change should not look as if they did"),
            ("tape-vectors", "all that passes find out about the fields of boxes has been found out"),
        ],
        4,
    ),
    // Loops over vectors are fused.
    Phase::Repeat(
        &[
            ("invariant-fields", "tapes that are vectors hold lengths of others, which are the same for all"),
            ("inductions", "the loops that read vectors that were tapes count downwards"),
            ("fusion", "what goes from loop to loop is in vectors, and their places are in range"),
            ("dce", "loops that filled vectors that are not read any more may have done nothing else"),
        ],
        4,
    ),
    Phase::Once(&[
        ("checkpointing", "tapes that can be vectors are, and loops that are fused have no tapes any more"),
        ("shared-zeros", "what is added up has its final places, and no pass that knows symbolic zeros follows"),
        ("peel", "vectors that loops fill are fused, and no pass that looks for whole fillings follows"),
        ("inductions", "places that are before the counter are in range behind the first round"),
        ("hoist-guards", "checks that do not change have been found to be equal, and loops have their final form"),
        ("licm", "loops have their final form"),
        ("gvn", "what left different loops may be the same"),
        ("if-convert", "no pass that learns from branches follows"),
        ("simplify-cfg", "blocks that became one side of a selection are gone"),
        ("neutral-sums", "additions consist of selections now"),
        ("dce", "gvn leaves what it replaced, and what loops have computed may be zeros that are known by now"),
        ("late-changes", "reads that are left stay where they are, and changes of equal functions should move alike"),
        ("merge-functions", "functions that differed in what was dropped are the same now"),
        ("sink", "nothing looks for equal operations any more, and loops should do in lanes what they need only"),
        ("parallelize", "loops have their final form, and what they do for errors only is not in the way"),
        ("distribute", "loops have their final form, and processes share them whole"),
        ("simplify-cfg", "loops that were divided have blocks that only jump"),
        ("unroll-and-jam", "loops have their final form, and what they do for errors only is not in the way"),
        ("dce", "rounds that are made at a time share their tests"),
        (
            "vectorize",
            "only what places reference counts has to know lanes, and loops have the blocks that they end with",
        ),
        ("sharing", "functions change no more, and whatever walks lists becomes a loop that asks for each"),
        ("tail-modulo-cons", "boxes are filled after they are made, which the passes before would get wrong"),
        ("rotate", "no pass that looks for loops by the test at their beginning follows"),
        ("simplify-cfg", "tests at the ends of loops are blocks of their own"),
        ("schedule", "code has its final form, and the owners of boxes should be counted where their fields are read"),
        ("watch", "what is still computed is needed, in its final order, which is found for whole blocks"),
        ("rows", "which loops make vectors, and where, changes no more"),
        ("memory", "SSA must be pure before it and never changes after it"),
    ]),
];

/// Functions are put where they are called.
pub const INLINE: &[Row] = &[
    ("tail-calls", "a function whose recursion is a loop can be inlined, and blocks end in calls of their own now"),
    ("inline", "callees were simplified in the round before, so that their sizes tell what they cost"),
    ("equal-across-calls", "tapes that hold the same are kept as one, before they are split, by calls that are left"),
    ("split-sums", "data that met only in functions that have been inlined no longer do"),
];

/// What is left is simplified.
pub const SIMPLIFY: &[Row] = &[
    ("gvn", "what is computed twice, or known, hides what can be simplified"),
    ("jump-threading", "results of inlined functions are joined, tagged and taken apart again; gvn found the tests"),
    ("simplify-cfg", "decides the branches whose outcome gvn found"),
    ("dce", "gvn leaves what it replaced, and what is computed for nothing shows where known tests are decided"),
    ("constants-across-calls", "few constants are left that only look like computations"),
    ("tags-across-calls", "tests that only the caller, or the maker of a box, can decide are left"),
    ("unbox-fields", "whoever made other alternatives may be gone, and what was boxed for its size may be small"),
    ("recompute-fields", "fields hold what is needed, with the operations that it follows from in sight"),
    ("dead-across-calls", "what is dead within functions is not a reason to keep anything across them"),
];

/// So many times what is left is simplified, as long as that finds something.
pub const SIMPLIFYING_ROUNDS: usize = 4;
