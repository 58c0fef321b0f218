import Testing

@testable import Attache

struct CurlNamesTests {
  @Test func `a cache is full after a limited number of names`() throws {
    let names = try CurlNames()
    for _ in 0..<CurlNames.maximumCount {
      #expect(!names.isFull)
      names.add()
    }
    #expect(names.isFull)
  }
}
