"""What everything is made of: plain records, and the pure words that several systems share."""
