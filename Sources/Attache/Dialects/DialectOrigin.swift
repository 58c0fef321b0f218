/// The position of a row in the file that defines it.
struct DialectOrigin: Sendable {
  let form: DialectForm
  /// The row's index, counted from 0.
  let row: Int
}
