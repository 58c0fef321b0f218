import Foundation
import FoundationXML

/// An XML document, parsed by another implementation than the writer.
final class XMLTree: NSObject, XMLParserDelegate {
  let name: String
  let attributes: [String: String]
  private(set) var children: [XMLTree] = []
  private(set) var text = ""
  private var path: [XMLTree] = []

  private init(name: String, attributes: [String: String]) {
    self.name = name
    self.attributes = attributes
  }

  private struct Malformed: Error {}

  /// The root of a document.
  convenience init(contentsOfFile path: String) throws {
    let collector = XMLTree(name: "", attributes: [:])
    let parser = XMLParser(data: try Data(contentsOf: URL(filePath: path)))
    parser.delegate = collector
    guard parser.parse(), let root = collector.children.first else { throw parser.parserError ?? Malformed() }
    self.init(name: root.name, attributes: root.attributes)
    (children, text) = (root.children, root.text)
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
  ) {
    let element = XMLTree(name: name, attributes: attributes)
    (path.last ?? self).children.append(element)
    path.append(element)
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    path.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters characters: String) {
    path.last?.text += characters
  }
}
