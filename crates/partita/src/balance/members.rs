//! Which rows each cluster has.

/// Labels, and the rows of every label. A row joins and leaves in constant time.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    pub labels: Vec<u32>,
    rows: Vec<Vec<u32>>,
    /// The position of a row among the rows of its cluster.
    place: Vec<u32>,
}

impl Members {
    /// Collect the rows of `k` clusters from `labels`.
    pub fn collect(&mut self, k: usize) {
        self.rows.resize_with(k, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.place.clear();
        for (row, &label) in self.labels.iter().enumerate() {
            let rows = &mut self.rows[label as usize];
            self.place.push(rows.len() as u32);
            rows.push(row as u32);
        }
    }

    pub fn of(&self, cluster: usize) -> &[u32] {
        &self.rows[cluster]
    }

    pub fn relabel(&mut self, row: u32, to: usize) {
        let from = self.labels[row as usize] as usize;
        let place = self.place[row as usize];
        self.rows[from].swap_remove(place as usize);
        if let Some(&moved) = self.rows[from].get(place as usize) {
            self.place[moved as usize] = place;
        }
        self.place[row as usize] = self.rows[to].len() as u32;
        self.rows[to].push(row);
        self.labels[row as usize] = to as u32;
    }
}
