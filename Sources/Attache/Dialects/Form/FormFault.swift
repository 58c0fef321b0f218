/// An error in a value of a dialect file, and its location.
struct FormFault: Error {
  enum Step {
    case member(String)
    case element(Int)
  }

  /// The path to the value, innermost step first.
  private(set) var steps: [Step] = []
  /// What is wrong, and what to write instead.
  let text: String

  init(_ text: String) {
    self.text = text
  }

  /// Returns the same error with one more outer step.
  func under(_ step: Step) -> FormFault {
    var fault = self
    fault.steps.append(step)
    return fault
  }

  /// Returns the error for a member name that does not exist.
  static func unknown(_ name: String, known: [String]) -> FormFault {
    let nearest = Spelling.nearest(to: name, of: known)
    return FormFault(
      "there is no such member; " + (nearest.map { "did you mean “\($0)”?" } ?? "write one of \(known.joined(separator: ", "))"))
  }

  /// Returns the error for a word that is not one of the allowed choices.
  static func noChoice(_ word: String, of known: [String]) -> FormFault {
    let nearest = Spelling.nearest(to: word, of: known)
    return FormFault("“\(word)” is not allowed here; write \(nearest ?? known.joined(separator: " or "))")
  }
}

extension JSONElement {
  /// Calls `read` with each member of an object. Throws if a member's name is unknown.
  func readMembers<Member: RawRepresentable<String> & CaseIterable>(
    _: Member.Type, _ read: (Member, JSONElement) throws(FormFault) -> Void
  ) throws(FormFault) {
    guard isObject else { throw FormFault("this is not an object; write {\"\(Member.allCases.first?.rawValue ?? "")\": …}") }
    try forEachMember { (name: UntrustedText, value: JSONElement) throws(FormFault) in
      let name = name.string
      guard let member = Member(rawValue: name) else {
        throw FormFault.unknown(name, known: Member.allCases.map(\.rawValue)).under(.member(name))
      }
      do throws(FormFault) { try read(member, value) } catch { throw error.under(.member(name)) }
    }
  }

  /// Parses each element of an array.
  func readElements<Value>(_ read: (JSONElement) throws(FormFault) -> Value) throws(FormFault) -> [Value] {
    guard isArray else { throw FormFault("this is not an array; write […]") }
    var values: [Value] = []
    try forEachElement { (element: JSONElement) throws(FormFault) in
      do throws(FormFault) { values.append(try read(element)) } catch { throw error.under(.element(values.count)) }
    }
    return values
  }

  /// Parses the elements of an array, or a single value.
  func readOneOrMany<Value>(_ read: (JSONElement) throws(FormFault) -> Value) throws(FormFault) -> [Value] {
    isArray ? try readElements(read) : [try read(self)]
  }

  /// Parses the elements of an array, or a single value. Throws if the array is empty.
  func readSome<Value>(_ read: (JSONElement) throws(FormFault) -> Value) throws(FormFault) -> [Value] {
    let values = try readOneOrMany(read)
    guard !values.isEmpty else { throw FormFault("the list is empty; write something into it, or leave the member out") }
    return values
  }

  func readText() throws(FormFault) -> String {
    guard let text else { throw FormFault(isString ? "the text is empty; write one" : "this is not a text; write a string") }
    return text.string
  }

  func readFlag() throws(FormFault) -> Bool {
    guard let boolean else { throw FormFault("this is not a flag; write true or false") }
    return boolean
  }

  /// Checks that the value is `true`, the only value of members that can only be set.
  func readTrue() throws(FormFault) {
    guard boolean == true else { throw FormFault("this member can only be true; write true, or leave it out") }
  }

  func readInteger(from least: Int) throws(FormFault) -> Int {
    guard let integer, integer >= least else { throw FormFault("this is not a whole number of at least \(least); write one") }
    return integer
  }

  func readPath() throws(FormFault) -> DialectPath {
    let text = try readText()
    do { return try DialectPath(text) } catch { throw FormFault("\(error)") }
  }

  /// Parses one of the given words.
  func readChoice<Choice: RawRepresentable<String>>(of choices: [Choice]) throws(FormFault) -> Choice {
    let word = try readText()
    guard let choice = choices.first(where: { $0.rawValue == word }) else {
      throw FormFault.noChoice(word, of: choices.map(\.rawValue))
    }
    return choice
  }
}
