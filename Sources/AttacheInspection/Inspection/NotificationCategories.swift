package import Attache
internal import Glibc

/// The categories that an app registers, from a JSON file:
///
///     {"categories": [{"identifier": "MESSAGE", "actions": [
///       {"identifier": "reply", "title": "Reply", "icon": "arrow", "options": ["authenticationRequired"],
///        "textInput": {"buttonTitle": "Send", "placeholder": "Message"}}]}]}
///
/// The options are the names of Apple's `UNNotificationActionOptions`: `authenticationRequired`,
/// `destructive` and `foreground`.
package struct NotificationCategories: Sendable {
  package struct Action: Hashable, Sendable {
    package var identifier: String
    package var title: String
    package var icon: String?
    package var isDestructive = false
    package var asksToUnlock = false
    package var takesText = false
  }

  private static let maximumBytes = 1 << 20

  private var categories: [UntrustedText: [Action]] = [:]
  /// The first identifiers of the file, in words for a message.
  package private(set) var examples = ""

  package init() {}

  /// Reads a file of at most 1 MiB.
  ///
  /// - Throws: what is wrong, with the file and the place, and what to do.
  package init(contentsOf path: String) throws(CategoriesError) {
    func unusable(_ text: String) -> CategoriesError { CategoriesError(place: PrintableText.of(path), message: text) }
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try SmallFile.read(path, maximum: Self.maximumBytes)
    } catch {
      throw unusable("the file cannot be read: \(SystemError.text(error.number))")
    }
    guard let bytes else { throw unusable("the file is longer than 1 MiB; leave out categories that are not used") }
    do throws(CategoriesError) {
      try self.init(bytes)
    } catch {
      throw unusable("\(error)")
    }
  }

  /// Parses a file's text.
  ///
  /// - Throws: what is wrong, with its place, and what to do.
  package init(_ text: [UInt8]) throws(CategoriesError) {
    let parser = JSONParser()
    guard let root = parser.parse(copying: text) else {
      throw CategoriesError(place: "", message: "this is no JSON; write {\"categories\": […]}")
    }
    guard let list = root.isArray ? root : root.member("categories"), list.isArray else {
      throw CategoriesError(place: "", message: "there is no array “categories”; write {\"categories\": […]}")
    }
    var (number, identifiers) = (0, [String]())
    try list.forEachElement { category throws(CategoriesError) in
      let place = "categories[\(number)]"
      number += 1
      let identifier = UntrustedText(try category.required("identifier", at: place))
      guard categories[identifier] == nil else {
        throw CategoriesError(place: place, message: "another category has the identifier “\(PrintableText.of(identifier))”; remove one")
      }
      categories[identifier] = try Self.actions(of: category, at: place)
      if number <= 5 { identifiers.append("“\(PrintableText.of(identifier))”") }
    }
    examples = identifiers.joined(separator: ", ")
  }

  private static func actions(of category: JSONElement, at place: String) throws(CategoriesError) -> [Action] {
    guard let list = category.member("actions") else { return [] }
    guard list.isArray else { throw CategoriesError(place: place + ".actions", message: "this is no array; write [] or a list of actions") }
    var actions: [Action] = []
    try list.forEachElement { element throws(CategoriesError) in
      actions.append(try Action(element, at: "\(place).actions[\(actions.count)]"))
    }
    return actions
  }

  /// The actions of a category; nil if there is no such category.
  package func actions(of identifier: UntrustedText) -> [Action]? { categories[identifier] }

  /// Whether no category is known.
  package var isEmpty: Bool { categories.isEmpty }
}

/// A mistake in a file of categories.
package struct CategoriesError: Error, Hashable, CustomStringConvertible {
  /// Such as `categories[1].actions[0]`; empty for the whole file.
  package var place: String
  package var message: String

  package var description: String { place.isEmpty ? message : "\(place): \(message)" }
}

extension NotificationCategories.Action {
  private static let options = ["authenticationRequired", "destructive", "foreground"]

  fileprivate init(_ element: JSONElement, at place: String) throws(CategoriesError) {
    identifier = try element.required("identifier", at: place)
    title = try element.required("title", at: place)
    icon = element.member("icon")?.text?.string
    takesText = element.member("textInput")?.isObject == true
    guard let options = element.member("options") else { return }
    guard options.isArray else {
      throw CategoriesError(place: place + ".options", message: "this is no array; write [] or a list of names")
    }
    try options.forEachElement { option throws(CategoriesError) in
      guard let name = option.text?.string, Self.options.contains(name) else {
        throw CategoriesError(
          place: place + ".options", message: "one option is unknown; Apple's are \(Self.options.joined(separator: ", "))")
      }
      if name == "destructive" { isDestructive = true }
      if name == "authenticationRequired" { asksToUnlock = true }
    }
  }
}

extension JSONElement {
  fileprivate func required(_ name: String, at place: String) throws(CategoriesError) -> String {
    guard isObject, let text = member(name)?.text?.string, !text.isEmpty else {
      throw CategoriesError(place: place, message: "there is no string “\(name)”; add one")
    }
    return text
  }
}
