/// The exit statuses beside 0 and 64 (usage, by the argument parser), numbered as in sysexits.h.
enum ExitStatus {
  /// A line was invalid, and `--strict` was given.
  static let data: Int32 = 65
  /// A server or an executable that is needed is not there.
  static let unavailable: Int32 = 69
  static let software: Int32 = 70
  /// The store cannot be created or written.
  static let cannotCreate: Int32 = 73
  static let inputOutput: Int32 = 74
  /// Stopped with work left: run it again.
  static let temporaryFailure: Int32 = 75
}
