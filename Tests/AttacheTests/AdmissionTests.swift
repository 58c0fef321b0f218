import Testing

@testable import Attache

@Suite struct AdmissionTests {
  private final class Guest {}

  @Test func `guests beyond the places wait, first come first served, each origin for itself`() {
    var admission = Admission<Guest>(places: 2)
    let guests = (0..<5).map { _ in Guest() }
    #expect(admission.enter("a", guests[0]))
    #expect(admission.enter("a", guests[1]))
    #expect(!admission.enter("a", guests[2]))
    #expect(!admission.enter("a", guests[3]))
    #expect(admission.enter("b", guests[4]))
    #expect(admission.leave("a") === guests[2])
    #expect(admission.leave("a") === guests[3])
    #expect(admission.leave("a") == nil)
    #expect(admission.leave("a") == nil)
    #expect(admission.enter("a", guests[0]))
  }

  @Test func `a guest that gives up is not called`() {
    var admission = Admission<Guest>(places: 1)
    let guests = (0..<3).map { _ in Guest() }
    #expect(admission.enter("a", guests[0]))
    #expect(!admission.enter("a", guests[1]))
    #expect(!admission.enter("a", guests[2]))
    admission.giveUp("a", guests[1])
    #expect(admission.leave("a") === guests[2])
  }
}
