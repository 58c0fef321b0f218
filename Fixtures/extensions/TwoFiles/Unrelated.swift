// Not needed, and not for this platform.
import SwiftUI

struct ContentView: View {
  var body: some View { Text("Hello") }
}
