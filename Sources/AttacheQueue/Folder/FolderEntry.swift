internal import Attache

/// A payload as the name of its file tells it: its number, then what is known of it, a letter and a value each, then what the user's file was called.
///
///     17,p10,qhq3zkw1s0c,a1,f3;cat.json
struct FolderEntry {
  var id: Int64
  var priority = NewPayload.usualPriority
  /// In microseconds since 1970; nil once it is past.
  var notBefore: Int64?
  /// In microseconds since 1970.
  var expiresAt: Int64?
  /// In microseconds since 1970.
  var enqueuedAt: Int64
  var attempts = 0
  var deaths = 0
  var deathsAlone = 0
  /// Of the last lease.
  var fence: Int64 = 0
  /// 64 hexadecimal digits.
  var key: String?
  /// The start of the machine that ``until`` belongs to.
  var boot: String?
  /// The end of the lease, or of the delay, in microseconds of the machine's uptime.
  var until: Int64?
  var worker: Int64?
  var isAlone = false
  var result: Result?
  /// What a dropped file was called, without what a name within the queue's own cannot have; empty when there was none.
  var name = ""

  /// What is known of a payload that has its result.
  struct Result {
    var outcome: Outcome
    var reason: Reason?
    var isDead = false
    var isRead = false
    /// Whether the original is kept beside its output.
    var hasOriginal = false
    var hasHolds = false
    /// In microseconds since 1970.
    var finishedAt: Int64
  }

  init(id: Int64, enqueuedAt: Int64) {
    (self.id, self.enqueuedAt) = (id, enqueuedAt)
  }

  var isSuspect: Bool { deaths >= Lease.deathsOfSuspect }

  /// Forgets its lease, or its delay.
  mutating func release() {
    (boot, until, worker, isAlone) = (nil, nil, nil, false)
  }

  // MARK: Its text

  var text: String {
    var text = String(id)
    func add(_ letter: String, _ value: some BinaryInteger, unless usual: Int? = nil) {
      if usual.map({ value != $0 }) ?? true { text += "," + letter + String(value, radix: 36) }
    }
    add("p", priority, unless: NewPayload.usualPriority)
    add("q", enqueuedAt)
    if let notBefore { add("n", notBefore) }
    if let expiresAt { add("e", expiresAt) }
    add("a", attempts, unless: 0)
    add("d", deaths, unless: 0)
    add("s", deathsAlone, unless: 0)
    add("f", fence, unless: 0)
    if let key { text += ",k" + key }
    if let boot { text += ",b" + boot }
    if let until { add("u", until) }
    if let worker { add("w", worker) }
    if isAlone { text += ",l" }
    if let result {
      text += ",o" + result.outcome.rawValue
      if let reason = result.reason { text += ",r" + reason.rawValue }
      add("t", result.finishedAt)
      if result.isDead { text += ",x" }
      if result.isRead { text += ",m" }
      if result.hasOriginal { text += ",c" }
      if result.hasHolds { text += ",h" }
    }
    return text + ";" + name
  }

  /// Reads a name; nil for what is none of the queue's own.
  init?(_ text: String) {
    let bytes = text.utf8
    guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let fields = bytes[..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard let first = fields.first, let id = Int64(String(first) ?? "") else { return nil }
    self.init(id: id, enqueuedAt: 0)
    name = String(text[bytes.index(after: end)...])
    for field in fields.dropFirst() {
      guard let letter = field.first, let value = String(field.dropFirst()) else { return nil }
      read(letter, value)
    }
  }

  private mutating func read(_ letter: UInt8, _ value: String) {
    func number<Number: FixedWidthInteger>() -> Number? { Number(value, radix: 36) }
    switch letter {
    case UInt8(ascii: "p"): priority = number() ?? priority
    case UInt8(ascii: "q"): enqueuedAt = number() ?? 0
    case UInt8(ascii: "n"): notBefore = number()
    case UInt8(ascii: "e"): expiresAt = number()
    case UInt8(ascii: "a"): attempts = number() ?? 0
    case UInt8(ascii: "d"): deaths = number() ?? 0
    case UInt8(ascii: "s"): deathsAlone = number() ?? 0
    case UInt8(ascii: "f"): fence = number() ?? 0
    case UInt8(ascii: "k"): key = value
    case UInt8(ascii: "b"): boot = value
    case UInt8(ascii: "u"): until = number()
    case UInt8(ascii: "w"): worker = number()
    case UInt8(ascii: "l"): isAlone = true
    case UInt8(ascii: "o"): result = Result(outcome: Outcome(rawValue: value) ?? .fallback, finishedAt: 0)
    case UInt8(ascii: "r"): result?.reason = Reason(rawValue: value)
    case UInt8(ascii: "t"): result?.finishedAt = number() ?? 0
    case UInt8(ascii: "x"): result?.isDead = true
    case UInt8(ascii: "m"): result?.isRead = true
    case UInt8(ascii: "c"): result?.hasOriginal = true
    case UInt8(ascii: "h"): result?.hasHolds = true
    default: break
    }
  }
}
