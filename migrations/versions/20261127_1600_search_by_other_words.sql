-- BM25 of every document that contains a word of the query or another word for it, and the share
-- of the query (its words weighed by rarity) that it contains.
--
-- said and meant are pairs: meant[i] is another word for said[i], and worth part of what the word
-- itself is. Of a word and its other words a document has one, the one that is worth most: what it
-- says in two ways is no more to the point than what it says in one.
--
-- In PL/pgSQL because that keeps its plans from one call to the next.
CREATE FUNCTION search_scores(
    query text, searched uuid, searcher uuid, k1 float8, b float8,
    said text[], meant text[], part float8)
RETURNS TABLE (doc_no bigint, bm25 float8, coverage float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1000 AS $body$
BEGIN
    IF cardinality(said) = 0 THEN
        RETURN QUERY SELECT * FROM search_scores(query, searched, searcher, k1, b);
        RETURN;
    END IF;
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT word FROM search_words(query) WHERE NOT is_stop_word(word)
        ORDER BY place LIMIT 40
    ), forms AS MATERIALIZED (
        -- A word is known by its stem: "fryer" and "fryers" are asked for once.
        SELECT kind.language, word_stem(kind.language, w.word) AS concept,
            word_stem(kind.language, w.form) AS lexeme, max(w.worth) AS worth
        FROM (
            SELECT word, word AS form, 1.0::float8 AS worth FROM asked
            UNION ALL
            SELECT a.word, o.meant, part FROM asked AS a
            JOIN unnest(said, meant) AS o (said, meant) ON o.said = a.word
            WHERE NOT is_stop_word(o.meant)
        ) AS w
        CROSS JOIN (VALUES ('en'), ('es'), ('mul')) AS kind (language)
        WHERE word_stem(kind.language, w.word) IS NOT NULL
            AND word_stem(kind.language, w.form) IS NOT NULL
        GROUP BY 1, 2, 3
    ), known AS MATERIALIZED (
        SELECT f.language, f.concept, f.lexeme, f.worth, r.idf,
            coalesce(n.documents, 0) > 0 AS is_known, f.lexeme = f.concept AS is_said,
            r.idf * (k1 + 1) AS most, k1 * (1 - b) AS fixed,
            k1 * b * s.documents / greatest(s.total_length, 1) AS per_length
        FROM forms AS f
        JOIN language_statistics AS s
            ON s.group_id = searched AND s.language = f.language
        LEFT JOIN lexeme_statistics AS n ON n.group_id = searched
            AND n.language = f.language AND n.lexeme = f.lexeme
        CROSS JOIN LATERAL (SELECT ln(1 +
            (s.documents - coalesce(n.documents, 0) + 0.5)::float8
            / (coalesce(n.documents, 0) + 0.5)) AS idf) AS r
        WHERE coalesce(n.documents, 0) > 0 OR f.lexeme = f.concept
    ), concepts AS MATERIALIZED (
        SELECT c.language, c.concept, c.idf / sum(c.idf) OVER (PARTITION BY c.language) AS share
        FROM (
            -- A word that no document has weighs what the rarest word for it does; one for which
            -- there is none weighs what nothing has, unless it is a number: that is a reading.
            SELECT k.language, k.concept, coalesce(
                max(k.idf) FILTER (WHERE k.is_said AND k.is_known),
                max(k.idf) FILTER (WHERE k.is_known), max(k.idf)) AS idf
            FROM known AS k GROUP BY 1, 2
            HAVING bool_or(k.is_known) OR k.concept !~ '^[0-9]+$'
        ) AS c
    ), found AS (
        SELECT p.doc_no, t.language, t.concept,
            max(t.worth * t.most * p.frequency
                / (p.frequency + t.fixed + t.per_length * p.length)) AS bm25,
            max(t.worth) AS worth
        FROM known AS t JOIN postings AS p ON p.group_id = searched
            AND p.language = t.language AND p.lexeme = t.lexeme
            AND (p.owner_id IS NULL OR p.owner_id = searcher)
        WHERE t.is_known
        GROUP BY 1, 2, 3
    )
    SELECT f.doc_no, sum(f.bm25), sum(f.worth * c.share)
    FROM found AS f JOIN concepts AS c USING (language, concept)
    GROUP BY f.doc_no;
END
$body$;
