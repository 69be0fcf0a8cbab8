//! stub
/// stub
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goals(pub u64);
impl Goals {
    /// bits
    pub fn bits(self) -> u64 {
        self.0
    }
}
