/// The exit statuses other than 0 and 64 (usage, which the argument parser reports). The numbers
/// follow sysexits.h where it defines one.
package enum ExitStatus {
  /// `attache lint` found something.
  package static let findings: Int32 = 1
  /// A line was invalid and `--strict` was given, or a given file is wrong.
  package static let data: Int32 = 65
  /// A required server or executable is missing.
  package static let unavailable: Int32 = 69
  package static let software: Int32 = 70
  /// The store cannot be created or written.
  package static let cannotCreate: Int32 = 73
  package static let inputOutput: Int32 = 74
  /// The command stopped before all work was done: run it again.
  package static let temporaryFailure: Int32 = 75
  /// Apple does not allow this sender to send.
  package static let noPermission: Int32 = 77
  /// A rehearsal failed.
  package static let rehearsalFailed: Int32 = 99
}
