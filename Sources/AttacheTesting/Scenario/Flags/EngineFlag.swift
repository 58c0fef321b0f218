internal import Attache

/// A flag for how attache processes payloads. ``all`` has one row for each flag of `attache filter`
/// and `attache record`. Of the flags of `attache work`, it has only those that the filter or
/// `record` also have.
package struct EngineFlag: Sendable {
  /// The commands that have a flag.
  package struct Commands: OptionSet, Sendable {
    package let rawValue: Int
    package static let filter = Commands(rawValue: 1)
    package static let record = Commands(rawValue: 2)
    /// `attache work`. `attache batch` has the same, and some of the filter's.
    package static let worker = Commands(rawValue: 4)

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }
  }

  /// What else must be decided about a flag.
  package struct Traits: OptionSet, Sendable {
    package let rawValue: Int
    /// The rehearsal gives it, or a scenario has a field of that name.
    package static let own = Traits(rawValue: 1)
    /// A scenario file cannot contain it.
    package static let refused = Traits(rawValue: 2)
    /// A recorded scenario leaves it out: its own fields state it, a rehearsal gives it, or no
    /// scenario may contain it.
    package static let unrecorded = Traits(rawValue: 4)
    /// It could open a way to an address of cloud metadata, which must stay closed. The tests try
    /// it.
    package static let opens = Traits(rawValue: 8)

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }
  }

  typealias Setter = @Sendable (inout EngineFlagSettings, EngineFlagValue) throws -> Void

  package let name: String
  /// The name of its value in the help; nil for a switch.
  package let valueName: String?
  package let commands: Commands
  package let traits: Traits
  /// The flag without which it means nothing; nil for a flag that needs no other.
  let companion: String?
  /// Sets its value; nil for a flag that does not concern the engine.
  let set: Setter?

  init(
    _ name: String, _ valueName: String? = nil, in commands: Commands = [.filter, .record, .worker], _ traits: Traits = [],
    needs companion: String? = nil, set: Setter? = nil
  ) {
    (self.name, self.valueName, self.commands, self.traits) = (name, valueName, commands, traits)
    (self.companion, self.set) = (companion, set)
  }

  /// Whether a scenario file may contain the flag.
  package var isAllowedInScenario: Bool { traits.isDisjoint(with: [.own, .refused]) }

  /// Returns the flag with this name, which starts with `--`.
  package static func named(_ name: some StringProtocol) -> EngineFlag? {
    all.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
