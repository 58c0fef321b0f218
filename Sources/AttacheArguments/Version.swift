/// The version of every executable of attache: the user sees one command.
package let attacheVersion = "0.1.0"
