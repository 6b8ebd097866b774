-- V125: facts: as_of and open_delivery may set for the transaction only. Applied once.

DROP FUNCTION IF EXISTS omd_facts.as_of(timestamptz);
DROP PROCEDURE IF EXISTS omd_facts.open_delivery(text, boolean, bigint);
