/// The place of a row in the file that it is written in.
struct DialectOrigin: Sendable {
  let form: DialectForm
  /// Its number, counted from 0.
  let row: Int
  /// Where it stands in the text, when that is known.
  var range: Range<Int>?
}
