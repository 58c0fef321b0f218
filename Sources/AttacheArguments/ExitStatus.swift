/// The exit statuses beside 0 and 64 (usage, by the argument parser), numbered as in sysexits.h
/// where it has one.
package enum ExitStatus {
  /// `attache lint` has found something.
  package static let findings: Int32 = 1
  /// A line was invalid, and `--strict` was given; or a file that was given is wrong.
  package static let data: Int32 = 65
  /// A server or an executable that is needed is not there.
  package static let unavailable: Int32 = 69
  package static let software: Int32 = 70
  /// The store cannot be created or written.
  package static let cannotCreate: Int32 = 73
  package static let inputOutput: Int32 = 74
  /// Stopped with work left: run it again.
  package static let temporaryFailure: Int32 = 75
  /// Apple does not let this sender send.
  package static let noPermission: Int32 = 77
  /// A rehearsal failed.
  package static let rehearsalFailed: Int32 = 99
}
