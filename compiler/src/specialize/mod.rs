//! Core and shapes to first-order SSA.
