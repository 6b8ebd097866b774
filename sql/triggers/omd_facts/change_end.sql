-- A change of the kind CRUD is ended by the commit. A constraint trigger can't be replaced, and to
-- drop it would wait for writers, so it is made once.

DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = 'omd_facts.change'::regclass AND t.tgname = 'trg_change_end'
    ) THEN
        CREATE CONSTRAINT TRIGGER trg_change_end
        AFTER INSERT ON omd_facts.change
        DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (new.change_kind = 'CRUD')
        EXECUTE FUNCTION omd_facts._end_written_change();
    END IF;
END
$do$;

COMMENT ON TRIGGER trg_change_end ON omd_facts.change IS
'Counts the keys of a change that was written through views, and moves the position.';
