//! Matrices inside of slices: where they begin, and how far it is from one row or column to the next.
//!
//! Steps may be negative, so that a matrix can be read from its last row and column to its first: the solution of upper
//! triangular systems is that of lower ones, read backwards.

/// A matrix to read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The numbers.
    data: &'a [f64],
    place: Layout,
}

/// A matrix to write.
pub struct ViewMut<'a> {
    data: &'a mut [f64],
    place: Layout,
}

/// Where the elements of a matrix stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The position of the first element.
    pub start: usize,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The way from one row to the next.
    pub down: isize,
    /// The way from one column to the next.
    pub right: isize,
}

impl Layout {
    /// Row after row, from the start of the data.
    pub fn by_rows(rows: usize, columns: usize) -> Layout {
        Layout { start: 0, rows, columns, down: columns as isize, right: 1 }
    }
    /// Rows as columns.
    pub fn transposed(self) -> Layout {
        Layout { rows: self.columns, columns: self.rows, down: self.right, right: self.down, ..self }
    }
    /// From the last row and column to the first.
    pub fn backwards(self) -> Layout {
        let start = self.at(self.rows.saturating_sub(1), self.columns.saturating_sub(1));
        Layout { start, down: -self.down, right: -self.right, ..self }
    }
    /// Rows from the last to the first.
    pub fn upside_down(self) -> Layout {
        Layout { start: self.at(self.rows.saturating_sub(1), 0), down: -self.down, ..self }
    }
    /// So many rows and columns from a place on.
    pub fn part(self, row: usize, column: usize, rows: usize, columns: usize) -> Layout {
        debug_assert!(row + rows <= self.rows && column + columns <= self.columns);
        Layout { start: self.at(row, column), rows, columns, ..self }
    }
    /// The position of an element.
    #[inline(always)]
    pub fn at(self, row: usize, column: usize) -> usize {
        (self.start as isize + row as isize * self.down + column as isize * self.right) as usize
    }
}

impl<'a> View<'a> {
    /// A matrix whose elements all stand in `data`.
    ///
    /// # Panics
    ///
    /// When an element does not.
    pub fn new(data: &'a [f64], place: Layout) -> View<'a> {
        demand_inside(data.len(), place);
        View { data, place }
    }
    /// Where it stands.
    pub fn layout(self) -> Layout {
        self.place
    }
    /// The matrix at other places of the same memory.
    pub fn moved(self, place: Layout) -> View<'a> {
        View::new(self.data, place)
    }
    /// Rows as columns.
    pub fn transposed(self) -> View<'a> {
        View { place: self.place.transposed(), ..self }
    }
    /// So many rows and columns from a place on.
    pub fn part(self, row: usize, column: usize, rows: usize, columns: usize) -> View<'a> {
        View { place: self.place.part(row, column, rows, columns), ..self }
    }
    /// An element.
    #[inline(always)]
    pub fn at(self, row: usize, column: usize) -> f64 {
        self.data[self.place.at(row, column)]
    }
    /// The number at a position of the memory.
    #[inline(always)]
    pub fn element(self, position: usize) -> f64 {
        self.data[position]
    }
}

impl ViewMut<'_> {
    /// A matrix whose elements all stand in `data`.
    ///
    /// # Panics
    ///
    /// When an element does not.
    pub fn new(data: &mut [f64], place: Layout) -> ViewMut<'_> {
        demand_inside(data.len(), place);
        ViewMut { data, place }
    }
    /// Where it stands.
    pub fn layout(&self) -> Layout {
        self.place
    }
    /// An element.
    #[inline(always)]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.data[self.place.at(row, column)]
    }
    /// Replaces an element.
    #[inline(always)]
    pub fn set(&mut self, row: usize, column: usize, x: f64) {
        self.data[self.place.at(row, column)] = x;
    }
    /// The number at a position of the memory.
    #[inline(always)]
    pub fn element(&self, position: usize) -> f64 {
        self.data[position]
    }
    /// Replaces the number at a position of the memory.
    #[inline(always)]
    pub fn set_element(&mut self, position: usize, x: f64) {
        self.data[position] = x;
    }
    /// Columns `from` to `to` of a row whose columns stand side by side.
    #[inline(always)]
    pub fn row(&mut self, row: usize, from: usize, to: usize) -> &mut [f64] {
        debug_assert_eq!(self.place.right, 1);
        let start = self.place.at(row, from);
        &mut self.data[start..start + (to - from)]
    }
}

fn demand_inside(length: usize, place: Layout) {
    if place.rows == 0 || place.columns == 0 {
        return;
    }
    for (row, column) in [(0, 0), (place.rows - 1, 0), (0, place.columns - 1), (place.rows - 1, place.columns - 1)] {
        let position = place.start as isize + row as isize * place.down + column as isize * place.right;
        assert!(position >= 0 && (position as usize) < length, "a matrix leaves its memory");
    }
}
