//! Sorting with one instance of the standard library's algorithm.
//!
//! A call of `sort` for each type would add about 4 kB to the module, so positions are sorted, and then the items moved.

use std::cmp::Ordering;

/// Sorts items. Equal items keep their order.
pub fn sort<T: Ord>(items: &mut Vec<T>) {
    sort_by(items, &T::cmp);
}

/// As [`sort`], with a comparison.
pub fn sort_by<T>(items: &mut Vec<T>, compare: &dyn Fn(&T, &T) -> Ordering) {
    let order = {
        let compare_at = |one: usize, other: usize| match (items.get(one), items.get(other)) {
            (Some(one), Some(other)) => compare(one, other),
            _ => Ordering::Equal,
        };
        sorted_positions(items.len(), &compare_at)
    };
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|position| unsorted.get_mut(position)?.take()));
}

/// The numbers below `length`, in the order of a comparison.
fn sorted_positions(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..length).collect();
    positions.sort_by(|one, other| compare(*one, *other));
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_stable() {
        let mut items = vec![(2, 'a'), (1, 'b'), (2, 'c'), (0, 'd'), (1, 'e')];
        sort_by(&mut items, &|one, other| one.0.cmp(&other.0));
        assert_eq!(items, [(0, 'd'), (1, 'b'), (1, 'e'), (2, 'a'), (2, 'c')]);
        let mut names: Vec<String> = ["c", "", "a"].map(str::to_owned).into();
        sort(&mut names);
        assert_eq!(names, ["", "a", "c"]);
        sort(&mut Vec::<u8>::new());
    }
}
