//! Optimisation: SSA to SSA.
